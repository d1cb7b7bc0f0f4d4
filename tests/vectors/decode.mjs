// Rebuild and decode decode.json with BigInt, from the rules in liftlock.exact.alias.
// Prints "tables draws" on success, or throws at the first difference.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

function sweep(weights, bits) {
  let binBits = 0n;
  while (1n << binBits < BigInt(weights.length)) binBits += 1n;
  const bins = Number(1n << binBits);
  const capacity = 1n << (bits - binBits);
  const weight = Array.from({ length: bins }, (_, b) => weights[b] ?? 0n);
  const threshold = Array(bins).fill(capacity);
  const alias = Array.from({ length: bins }, (_, b) => b);
  const all = [...alias];
  const lights = all.filter((b) => weight[b] <= capacity);
  const heavies = all.filter((b) => weight[b] > capacity);
  if (heavies.length > 0) {
    let k = heavies.shift();
    let residual = weight[k];
    for (;;) {
      if (residual > capacity) {
        const i = lights.shift();
        threshold[i] = weight[i];
        alias[i] = k;
        residual -= capacity - weight[i];
      } else {
        threshold[k] = residual;
        if (heavies.length === 0) break;
        alias[k] = heavies.shift();
        residual += weight[alias[k]] - capacity;
        k = alias[k];
      }
    }
  }
  for (const b of all) if (threshold[b] === capacity) alias[b] = b;
  return { threshold, alias };
}

function decode(threshold, alias, bits, binBits, word) {
  const r = word >> (64n - bits);
  const bin = Number(r & ((1n << binBits) - 1n));
  const position = r >> binBits;
  return position < threshold[bin] ? bin : alias[bin];
}

const { cases } = JSON.parse(readFileSync(process.argv[2], "utf8"));
let tables = 0;
let draws = 0;
for (const { name, bits, bin_bits, weights, threshold, alias, draws: words } of cases) {
  weights.forEach((row, x) => {
    const limits = threshold[x].map(BigInt);
    assert.deepEqual(
      sweep(row.map(BigInt), BigInt(bits)),
      { threshold: limits, alias: alias[x] },
      `${name}, row ${x}`,
    );
    tables += 1;
    for (const [word, output] of words[x]) {
      const found = decode(limits, alias[x], BigInt(bits), BigInt(bin_bits), BigInt(word));
      assert.equal(found, output, `${name}, row ${x}, word ${word}`);
      draws += 1;
    }
  });
}
console.log(tables, draws);
