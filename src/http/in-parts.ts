/** Long lists as answers, made in parts. */
import { inParts } from "../core/index.ts";

/** Rows of an answer that are made in one go. */
export const ROWS_AT_ONCE = 50;

interface LongList<Row> {
  rows: readonly Row[];
  show: (rows: readonly Row[]) => Promise<readonly object[]>;
  /** The members after `data`, at least one. */
  rest: object;
}

/** `{ object: "list", data, … }` as `Response.json` has it. */
export async function listInParts<Row>({ rows, show, rest }: LongList<Row>): Promise<Response> {
  const texts: string[] = [];
  for await (const part of inParts(rows, ROWS_AT_ONCE)) texts.push(JSON.stringify(await show(part)).slice(1, -1));
  const text = `{"object":"list","data":[${texts.join(",")}],${JSON.stringify(rest).slice(1)}`;
  return new Response(text, { headers: { "content-type": "application/json;charset=utf-8" } });
}
