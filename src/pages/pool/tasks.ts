import type { CompareRequest, TextComparison } from "../changes/compare-texts.ts";
import type { Page, PageRequest } from "../page.ts";
import { PageError, type ReadFailure } from "../page-error.ts";
import { decodeEntries, encodeEntries } from "../sitemap/entry-lines.ts";
import type { Sitemap, SitemapRequest } from "../sitemap/sitemap.ts";
import type { PatternRequest, PatternVerdicts } from "./match-patterns.ts";
import { type Frame, type FrameBounds, frameOf } from "../../streaming/index.ts";

/** The task for a child, with the bytes that come with it. */
export type Task =
  | { name: "page"; request: PageRequest }
  | { name: "sitemap"; request: SitemapRequest }
  | { name: "patterns"; request: PatternRequest }
  | { name: "changes"; request: CompareRequest }
  | { name: "pictures"; request: PicturesRequest };

/** Pages of a PDF that are drawn, by their numbers from 1: fewer than a message has parts. */
interface PicturesRequest {
  pages: readonly number[];
}

/** The result. */
export type Result =
  | { name: "page"; page: Page }
  | { name: "sitemap"; sitemap: Sitemap }
  | { name: "patterns"; verdicts: PatternVerdicts }
  | { name: "changes"; comparison: TextComparison }
  | { name: "pictures"; pictures: readonly Uint8Array[] };

/** Of one message: more than any result of a document within its bounds. */
export const messageBounds: FrameBounds = { bytesMax: 512 * 1024 * 1024, partsMax: 8 };

/** Members of a page that can be large: they cross as bytes. */
const texts = ["markdown", "html", "rawHtml"] as const;

/** Sent before the task is performed. */
const beginning = JSON.stringify({ outcome: "begun" });

type Reply =
  | { outcome: "page"; page: Page; texts: (typeof texts)[number][] }
  | { outcome: "sitemap"; isCut: boolean }
  | { outcome: "patterns"; verdicts: PatternVerdicts }
  | { outcome: "changes"; comparison: TextComparison }
  | { outcome: "pictures" }
  | { outcome: "failed"; failure: ReadFailure; message: string; cpuMs: number };

export function encodeBeginning(): Uint8Array[] {
  return frameOf({ text: beginning, parts: [] });
}

export function isBeginning({ text }: Frame): boolean {
  return text === beginning;
}

export function encodePage(page: Page): Uint8Array[] {
  const encoder = new TextEncoder();
  const rest: Page = { ...page };
  const sent = texts.filter((name) => page[name] !== undefined);
  for (const name of sent) delete rest[name];
  return encodeReply(
    { outcome: "page", page: rest, texts: sent },
    sent.map((name) => encoder.encode(page[name])),
  );
}

export function encodeSitemap({ pages, sitemaps, isCut }: Sitemap): Uint8Array[] {
  return encodeReply({ outcome: "sitemap", isCut }, [encodeEntries(pages), encodeEntries(sitemaps)]);
}

export function encodeVerdicts(verdicts: PatternVerdicts): Uint8Array[] {
  return encodeReply({ outcome: "patterns", verdicts }, []);
}

export function encodeComparison(comparison: TextComparison): Uint8Array[] {
  return encodeReply({ outcome: "changes", comparison }, []);
}

export function encodePictures(pictures: readonly Uint8Array[]): Uint8Array[] {
  return encodeReply({ outcome: "pictures" }, pictures);
}

export function encodeFailure(error: unknown, cpuMs: number): Uint8Array[] {
  const { failure, message } =
    error instanceof PageError ? error : new PageError("malformed", "the document can't be read");
  return encodeReply({ outcome: "failed", failure, message, cpuMs }, []);
}

function encodeReply(reply: Reply, parts: readonly Uint8Array[]): Uint8Array[] {
  return frameOf({ text: JSON.stringify(reply), parts });
}

/**
 * The result that a child sent.
 * @throws PageError if it could not take the document apart.
 */
export function decodeReply({ text, parts }: Frame): Result {
  const reply = JSON.parse(text) as Reply;
  if (reply.outcome === "failed") throw new PageError(reply.failure, reply.message, { cpuMs: reply.cpuMs });
  if (reply.outcome === "patterns") return { name: "patterns", verdicts: reply.verdicts };
  if (reply.outcome === "pictures") return { name: "pictures", pictures: parts };
  if (reply.outcome === "changes") return { name: "changes", comparison: reply.comparison };
  if (reply.outcome === "sitemap") {
    const [pages = new Uint8Array(), sitemaps = new Uint8Array()] = parts;
    const sitemap = { pages: decodeEntries(pages), sitemaps: decodeEntries(sitemaps), isCut: reply.isCut };
    return { name: "sitemap", sitemap };
  }
  const decoder = new TextDecoder();
  const page = { ...reply.page };
  for (const [index, name] of reply.texts.entries()) page[name] = decoder.decode(parts[index]);
  return { name: "page", page };
}
