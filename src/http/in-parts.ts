/** Long lists, made in parts: the thread answers calls between them. */

/** Rows of an answer that are made in one go. */
const ROWS_AT_ONCE = 50;

/** The rows in parts, with a turn of the thread after each. */
export async function* inParts<Row>(rows: readonly Row[], count = ROWS_AT_ONCE): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += count) {
    yield rows.slice(from, from + count);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface LongList<Row> {
  rows: readonly Row[];
  show: (rows: readonly Row[]) => Promise<readonly object[]>;
  /** The members after `data`, at least one. */
  rest: object;
}

/** `{ object: "list", data, … }` as `Response.json` has it. */
export async function listInParts<Row>({ rows, show, rest }: LongList<Row>): Promise<Response> {
  const texts: string[] = [];
  for await (const part of inParts(rows)) texts.push(JSON.stringify(await show(part)).slice(1, -1));
  const text = `{"object":"list","data":[${texts.join(",")}],${JSON.stringify(rest).slice(1)}`;
  return new Response(text, { headers: { "content-type": "application/json;charset=utf-8" } });
}
