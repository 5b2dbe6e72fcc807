import { decodeText } from "./charset/decode.ts";
import { charsetOf, kindOf } from "./documents/kind.ts";
import { readHtml } from "./html/read-html.ts";
import type { Page, PageRequest } from "./page.ts";

/**
 * Takes a document apart, in this process.
 * @throws PageError
 */
export async function takeApart(bytes: Uint8Array, request: PageRequest): Promise<Page> {
  const kind = kindOf(bytes, request.contentType, request.url);
  const { text } = decodeText(bytes, { label: charsetOf(request.contentType) });
  return { kind, ...readHtml(text, request) };
}
