/** Bytes that must be available to read a tag's length. */
export const ID3_HEAD_BYTES = 10;
const ID3_FOOTER = 0x10;

/** Editors write one tag, some add a second. A long chain of empty tags only keeps the reader busy. */
const TAGS_MAX = 20;

/** The ID3 tags before the sound of one file. */
export class Id3Tags {
  #found = 0;

  /**
   * The length of the tag at `at`, including its header and footer; 0 if there is no tag, one that decoders ignore, or
   * one too many. At least `ID3_HEAD_BYTES` bytes must be available.
   */
  bytesAt(bytes: Buffer, at: number): number {
    const length = tagBytes(bytes, at);
    if (length > 0) this.#found += 1;
    return this.#found > TAGS_MAX ? 0 : length;
  }
}

function tagBytes(bytes: Buffer, at: number): number {
  if (bytes[at] !== 0x49 || bytes.toString("latin1", at, at + 3) !== "ID3") return 0;
  // The size is four times seven bits.
  const sizes = bytes.subarray(at + 6, at + 10);
  if (bytes[at + 3] === 0xff || bytes[at + 4] === 0xff || sizes.some((byte) => byte > 0x7f)) return 0;
  const length = sizes.reduce((sum, byte) => sum * 128 + byte, 0);
  const footer = ((bytes[at + 5] ?? 0) & ID3_FOOTER) === 0 ? 0 : ID3_HEAD_BYTES;
  return ID3_HEAD_BYTES + length + footer;
}
