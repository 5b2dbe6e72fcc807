import { finished } from "node:stream/promises";
import { Tokenize } from "rtf-stream-parser";
import type { Page, PageRequest } from "../../page.ts";
import { PageError } from "../../page-error.ts";
import { officePage } from "./office-page.ts";
import { type RtfToken, RtfWriter } from "./rtf-writer.ts";

/** Bytes that are given to the parser at a time. */
const stepBytes = 64 * 1024;

/**
 * Reads a document in Rich Text Format.
 * @throws PageError `malformed` for one that is broken.
 */
export async function readRtf(bytes: Uint8Array, request: PageRequest): Promise<Omit<Page, "kind">> {
  const writer = new RtfWriter();
  const tokens = new Tokenize();
  tokens.on("data", (token: RtfToken) => writer.take(token));
  try {
    for (let at = 0; at < bytes.length; at += stepBytes) tokens.write(Buffer.from(bytes.subarray(at, at + stepBytes)));
    tokens.end();
    await finished(tokens);
  } catch (error) {
    throw new PageError("malformed", "the RTF document is broken", { cause: error });
  }
  return officePage(writer.result(), request);
}
