/**
 * Reads a body whole, as long as it keeps to the bound: checked while reading, so that a body without a length (or with
 * a false one) takes no more memory than the bound allows.
 */
export async function readBounded(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
): Promise<{ bytes: Uint8Array } | { exceeded: true }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > bytesMax) return { exceeded: true };
    chunks.push(chunk);
  }
  const [first] = chunks;
  return { bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size) };
}
