/** Text as it is stored: compressed by zstd to about a fifth. */

/** Of zstd. Higher levels take several times as long and save little. */
const LEVEL = 3;

/** Characters that are compressed at once, for a third of a millisecond: to wake another thread for less delays callers more. */
const AT_ONCE_MAX = 128 * 1024;

export function compressText(text: string): Promise<Uint8Array> | Uint8Array {
  return text.length <= AT_ONCE_MAX
    ? Bun.zstdCompressSync(text, { level: LEVEL })
    : Bun.zstdCompress(text, { level: LEVEL });
}

export async function decompressText(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await Bun.zstdDecompress(bytes)).toString();
}
