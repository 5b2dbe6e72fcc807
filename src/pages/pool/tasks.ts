import type { Page, PageRequest } from "../page.ts";
import { PageError, type PageFailure } from "../page-error.ts";
import type { Frame } from "./frames.ts";
import { encodeFrame } from "./frames.ts";

/** What a child is asked to do with the bytes that come with it. */
interface PageTask {
  name: "page";
  request: PageRequest;
}

export type Task = PageTask;

/** Members of a page that can be large: they cross as bytes. */
const texts = ["markdown", "html", "rawHtml"] as const;

type Reply =
  | { outcome: "page"; page: Page; lengths: (number | null)[] }
  | { outcome: "failed"; failure: PageFailure; message: string };

export function encodePage(page: Page): Uint8Array[] {
  const encoder = new TextEncoder();
  const bodies = texts.map((name) => (page[name] === undefined ? undefined : encoder.encode(page[name])));
  const rest: Page = { ...page };
  for (const name of texts) delete rest[name];
  const reply: Reply = { outcome: "page", page: rest, lengths: bodies.map((body) => body?.length ?? null) };
  return encodeFrame(
    reply,
    bodies.filter((body) => body !== undefined),
  );
}

export function encodeFailure(error: unknown): Uint8Array[] {
  const { failure, message } =
    error instanceof PageError ? error : new PageError("malformed", "the document can't be read");
  return encodeFrame({ outcome: "failed", failure, message } satisfies Reply, []);
}

/**
 * The result that a child sent.
 * @throws PageError where it could not take the document apart.
 */
export function decodeReply({ header, body }: Frame): Page {
  const reply = header as Reply;
  if (reply.outcome === "failed") throw new PageError(reply.failure, reply.message);
  const decoder = new TextDecoder();
  const page = { ...reply.page };
  let start = 0;
  for (const [index, name] of texts.entries()) {
    const length = reply.lengths[index] ?? null;
    if (length === null) continue;
    page[name] = decoder.decode(body.subarray(start, start + length));
    start += length;
  }
  return page;
}
