/** Changes of bytes that real parsers meet: bits, lengths, line ends, pieces that are gone or twice. */
import fc from "fast-check";

interface Mutation {
  /** A fraction of the length, so that a mutation fits any bytes. */
  at: number;
  length: number;
  kind: "drop" | "repeat" | "overwrite" | "insert" | "truncate";
  bytes: Uint8Array;
}

const pieces = [
  "\r\n",
  "\n",
  "\r",
  "\r\n\r\n",
  "\n\n",
  ":",
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "\\u0000",
  "0",
  "-1",
  "1e99",
];
const words = ["null", "true", "data: ", "event: ", "[DONE]", "\uFEFF", "\u2028", "é", "😀", "18446744073709551616"];

const bytes = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...pieces, ...words).map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 4 }) },
);

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.oneof(fc.nat(8), fc.nat(400)),
  kind: fc.constantFrom("drop", "repeat", "overwrite", "insert", "truncate"),
  bytes,
});

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 4 });

/** Positions between 0 and 1 at which bytes are cut into pieces. */
export const cuts: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

export function mutate(original: Buffer, applied: readonly Mutation[]): Buffer {
  return applied.reduce(mutateOnce, original);
}

function mutateOnce(original: Buffer, { at, length, kind, bytes: inserted }: Mutation): Buffer {
  const start = Math.floor(at * original.length);
  const end = Math.min(start + length, original.length);
  const before = original.subarray(0, start);
  const after = original.subarray(end);
  switch (kind) {
    case "truncate":
      return before;
    case "drop":
      return Buffer.concat([before, after]);
    case "repeat":
      return Buffer.concat([original.subarray(0, end), original.subarray(start)]);
    case "overwrite":
      return Buffer.concat([before, inserted, original.subarray(Math.min(start + inserted.length, original.length))]);
    case "insert":
      return Buffer.concat([before, inserted, original.subarray(start)]);
  }
}

/** Copies: a reader may own the bytes that it gets. */
export function cutAt(whole: Buffer, positions: readonly number[]): Buffer[] {
  const offsets = [...new Set(positions.map((position) => Math.floor(position * whole.length)))].toSorted(
    (a, b) => a - b,
  );
  return [...offsets, whole.length].map((end, index) => Buffer.from(whole.subarray(offsets[index - 1] ?? 0, end)));
}
