// Run the script of the question page on decode.json, and draw; the results are printed as JSON.
// Arguments: the module, the vectors, and how many draws of each row of `weights` and `bits`.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, vectors, asked] = process.argv.slice(2);
const { binOf, build, decode, draw, read, readTable, rowOf } = await import(pathToFileURL(module));

const { cases } = JSON.parse(readFileSync(vectors, "utf8"));
const wrong = [];
let draws = 0;
for (const { name, bits, bin_bits, weights, threshold, alias, draws: words } of cases)
  weights.forEach((row, x) => {
    const table = build(row.map(BigInt), bits);
    const same =
      table.binBits === bin_bits &&
      table.threshold.every((limit, bin) => limit === BigInt(threshold[x][bin])) &&
      table.alias.every((output, bin) => output === alias[x][bin]);
    if (!same) wrong.push(`${name}, row ${x}`);
    for (const [word, output] of words[x]) {
      if (decode(table, BigInt(word)) !== output) wrong.push(`${name}, row ${x}, ${word}`);
      draws += 1;
    }
  });

const { rows, bits, count, texts, files, numbers, edges } = JSON.parse(asked);
const counts = rows.map((row) => {
  const found = row.map(() => 0);
  const weights = row.map(BigInt);
  for (let k = 0; k < count; k += 1) found[draw(weights, bits)] += 1;
  return found;
});
const refusals = [];
for (const [text, digest, outputs] of files)
  try {
    const table = await readTable(new TextEncoder().encode(text), digest, outputs);
    refusals.push(table.rows.map((row) => row.map(String)));
  } catch (error) {
    refusals.push(error.message);
  }
console.log(
  JSON.stringify({
    wrong,
    draws,
    counts,
    read: texts.map(read),
    refusals,
    bins: numbers.map((number) => binOf(edges, number)),
    place: rowOf([["a", 1], ["a", 2]], ["a", 2]),
  }),
);
