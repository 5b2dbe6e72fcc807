/**
 * Reads a whole body within a bound. The bound is checked while reading, so a body without a length (or with a false
 * one) takes no more memory than permitted. `onChunk` is called with the size of every piece; an error that it throws
 * ends the reading.
 */
export async function readBounded(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  onChunk?: (bytes: number) => void,
): Promise<{ bytes: Uint8Array } | { exceeded: true }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of body) {
    onChunk?.(chunk.byteLength);
    size += chunk.byteLength;
    if (size > bytesMax) return { exceeded: true };
    chunks.push(chunk);
  }
  const [first] = chunks;
  return { bytes: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size) };
}
