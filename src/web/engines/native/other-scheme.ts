/** An address without a scheme is tried as https, and as http if nothing answers there, or not in TLS. */
import { BrowserError } from "../../../browser/index.ts";
import { OutboundError } from "../../../outbound/index.ts";
import { BadReply } from "../../../upstream/index.ts";
import { hasNoScheme, withScheme } from "../../scrape/scrape-request.ts";

/**
 * Reads a page at the first of its addresses that answers. A bad certificate is an answer, and so is a redirect to a host that does
 * not answer, or a page that breaks off: the encryption of a server that has it is not given up.
 */
export async function atEitherScheme<Result>(text: string, read: (url: string) => Promise<Result>): Promise<Result> {
  const url = withScheme(text);
  try {
    return await read(url);
  } catch (reason) {
    if (!hasNoScheme(text) || !isSilence(reason)) throw reason;
    return read(url.replace(/^https:/, "http:"));
  }
}

function isSilence(reason: unknown): boolean {
  if (reason instanceof BrowserError) return reason.failure === "unreachable";
  if (!(reason instanceof OutboundError)) return false;
  return reason.failure === "unreachable" && !reason.hasAnswered && !(reason.cause instanceof BadReply);
}
