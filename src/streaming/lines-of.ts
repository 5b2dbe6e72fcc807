/** The lines of a stream of UTF-8, as they arrive; a last one without its end is one too. */
export async function* linesOf(input: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of input) {
    const pieces = decoder.decode(chunk, { stream: true }).split("\n");
    const [first = "", ...rest] = pieces;
    if (rest.length === 0) {
      pending += first;
      continue;
    }
    yield pending + first;
    pending = rest.pop() ?? "";
    yield* rest;
  }
  if (pending !== "") yield pending;
}
