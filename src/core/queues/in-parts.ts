/** A long list in parts of so many, with a turn of the event loop after each: the thread answers calls between them. */
export async function* inParts<Row>(rows: readonly Row[], count: number): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += count) {
    yield rows.slice(from, from + count);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
