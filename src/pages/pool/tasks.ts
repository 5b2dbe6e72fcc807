import type { Page, PageRequest } from "../page.ts";
import { PageError, type ReadFailure } from "../page-error.ts";
import type { Sitemap, SitemapRequest } from "../sitemap/read-sitemap.ts";
import { encodeFrame, type PoolMessage } from "./frames.ts";

/** The task for a child, with the bytes that come with it. */
export type Task = { name: "page"; request: PageRequest } | { name: "sitemap"; request: SitemapRequest };

/** The result. */
export type Result = { name: "page"; page: Page } | { name: "sitemap"; sitemap: Sitemap };

/** Members of a page that can be large: they cross as bytes. */
const texts = ["markdown", "html", "rawHtml"] as const;

type Reply =
  | { outcome: "page"; page: Page; lengths: (number | null)[] }
  | { outcome: "sitemap" }
  | { outcome: "failed"; failure: ReadFailure; message: string };

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

/** Lists can be long, and JSON is read faster than it is built: it crosses as bytes that the gateway parses once. */
export function encodeSitemap(sitemap: Sitemap): Uint8Array[] {
  return encodeFrame({ outcome: "sitemap" } satisfies Reply, [new TextEncoder().encode(JSON.stringify(sitemap))]);
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
export function decodeReply({ header, body }: PoolMessage): Result {
  const reply = header as Reply;
  if (reply.outcome === "failed") throw new PageError(reply.failure, reply.message);
  const decoder = new TextDecoder();
  if (reply.outcome === "sitemap") return { name: "sitemap", sitemap: JSON.parse(decoder.decode(body)) as Sitemap };
  const page = { ...reply.page };
  let start = 0;
  for (const [index, name] of texts.entries()) {
    const length = reply.lengths[index] ?? null;
    if (length === null) continue;
    page[name] = decoder.decode(body.subarray(start, start + length));
    start += length;
  }
  return { name: "page", page };
}
