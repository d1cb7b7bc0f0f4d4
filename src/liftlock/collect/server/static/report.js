// One answer becomes one report, on the device of the person who gives it.
// Tables are checked and decoded by the rules of docs/sampling.md, for rows of 1 to 62 bits.

/** What a person is told when there will be no report. */
export class Refusal extends Error {}

/** Read JSON; an integer that a number could not hold exactly stays text. */
export function read(text) {
  const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(tokens, (word) => (/^\d{16,}$/.test(word) ? `"${word}"` : word)));
}

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const randomName = () => hex(crypto.getRandomValues(new Uint8Array(16)));

/** Read the table of a mechanism from the bytes of its file, which must have this digest. */
export async function readTable(bytes, digest, outputs) {
  const found = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  if (found !== digest) throw new Refusal("The table that came is not the one that was announced.");
  const { channel } = read(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  const { bits, weights } = channel;
  const inputs = channel.inputs.labels ?? channel.inputs;
  const whole = 1n << BigInt(bits);
  const rows = weights.map((row) => row.map(BigInt));
  const width = outputs ?? rows[0].length;
  const right = (row) =>
    row.length === width && row.every((w) => w >= 0n) && row.reduce((a, b) => a + b, 0n) === whole;
  if (!(bits >= 1 && bits <= 62) || rows.length !== inputs.length || !rows.every(right))
    throw new Refusal("The table that came is damaged.");
  return { bits, rows, inputs };
}

/** Lay out the weights of a row in bins, as every implementation does. */
export function build(weights, bits) {
  let binBits = 0;
  while (1 << binBits < weights.length) binBits += 1;
  const capacity = 1n << BigInt(bits - binBits);
  const bins = [...Array(1 << binBits).keys()];
  const weight = bins.map((bin) => weights[bin] ?? 0n);
  const threshold = bins.map(() => capacity);
  const alias = [...bins];
  const lights = bins.filter((bin) => weight[bin] <= capacity);
  const heavies = bins.filter((bin) => weight[bin] > capacity);
  let light = 0;
  let heavy = 0;
  let residual = heavies.length ? weight[heavies[0]] : 0n;
  while (heavy < heavies.length) {
    const k = heavies[heavy];
    if (residual > capacity) {
      const bin = lights[light++];
      threshold[bin] = weight[bin];
      alias[bin] = k;
      residual -= capacity - weight[bin];
    } else {
      threshold[k] = residual;
      heavy += 1;
      if (heavy < heavies.length) {
        alias[k] = heavies[heavy];
        residual += weight[heavies[heavy]] - capacity;
      }
    }
  }
  for (const bin of bins) if (threshold[bin] === capacity) alias[bin] = bin;
  return { bits, binBits, threshold, alias };
}

/** Return the output that a 64-bit word stands for. */
export function decode({ bits, binBits, threshold, alias }, word) {
  const top = word >> BigInt(64 - bits);
  const bin = Number(top & ((1n << BigInt(binBits)) - 1n));
  return top >> BigInt(binBits) < threshold[bin] ? bin : alias[bin];
}

/** Draw an output of a row. */
export const draw = (weights, bits) =>
  decode(build(weights, bits), crypto.getRandomValues(new BigUint64Array(1))[0]);

/** Return the place of an input: a label is found among them as it is written in JSON. */
export function rowOf(inputs, label) {
  const written = JSON.stringify(label);
  const row = inputs.findIndex((input) => JSON.stringify(input) === written);
  if (row < 0) throw new Refusal("This answer is not among those that the table knows.");
  return row;
}

/** Return the bin of a number: [e0, e1), [e1, e2), ...; what lies outside counts as the nearer end. */
export const binOf = (edges, number) => edges.slice(1, -1).filter((edge) => edge <= number).length;
