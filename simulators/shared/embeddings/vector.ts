import { createHash } from "node:crypto";

/** Longer texts are distinguished by their hash only. */
const wordsMax = 256;
/** The weight of the exact text beside its words, which distinguishes texts with the same words. */
const exactWeight = 0.25;

/**
 * The vector of a text, of length 1. The same text always gets the same one, texts that share words are close to each
 * other, and fewer dimensions are the beginning of more, normalized again.
 */
export function unitVector(text: string, dimensions: number): Float32Array {
  const vector = new Float64Array(dimensions);
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  for (const word of words.slice(0, wordsMax)) addDirection(vector, `word ${word}`, 1);
  addDirection(vector, `text ${text}`, exactWeight * Math.max(1, Math.sqrt(words.length)));
  const length = Math.hypot(...chunkLengths(vector));
  return Float32Array.from(vector, (component) => component / length);
}

/** Adds a direction that depends on the label alone. */
function addDirection(vector: Float64Array, label: string, weight: number): void {
  let state = createHash("sha256").update(label).digest().readUInt32LE(0);
  for (let index = 0; index < vector.length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    vector[index] = (vector[index] ?? 0) + weight * (state / 2 ** 31 - 1);
  }
}

/** Lengths of the parts, as a call takes only so many arguments. */
function chunkLengths(vector: Float64Array): number[] {
  const lengths: number[] = [];
  for (let start = 0; start < vector.length; start += 1_024) {
    lengths.push(Math.hypot(...vector.subarray(start, start + 1_024)));
  }
  return lengths;
}

/** The components as JSON numbers, with the digits that a 32-bit float needs and no more. */
export function floatsOf(vector: Float32Array): number[] {
  return Array.from(vector, (component) => Number(component.toPrecision(9)));
}

/** The components as base64 of little-endian 32-bit floats. */
export function base64Of(vector: Float32Array): string {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
