import type { CallSignal } from "../../../core/index.ts";
import type { Outbound } from "../../../outbound/index.ts";
import type { MemoryShare } from "../../../streaming/index.ts";
import { collectBody } from "../../../upstream/index.ts";

const REDIRECTS_MAX = 10;

export interface PageReply {
  bytes: Uint8Array;
  contentType: string | undefined;
  /** After all redirects, without a fragment. */
  url: string;
  status: number;
  /** Its `retry-after`, as it was sent. */
  retryAfter?: string | undefined;
  refresh?: string | undefined;
}

interface PageFetch {
  url: string;
  headers: Readonly<Record<string, string>>;
  languages: readonly string[];
  userAgent: string;
  timeoutMs: number;
  bytesMax: number;
  signal: CallSignal;
  memory: MemoryShare;
}

/** Reads one page through the guard. Rejects as `Outbound.fetch` does. */
export async function fetchPage(outbound: Pick<Outbound, "fetch">, page: PageFetch): Promise<PageReply> {
  const { url, timeoutMs, bytesMax, signal, memory } = page;
  const reply = await outbound.fetch({
    url,
    headers: headersOf(page),
    timeoutMs,
    bytesMax,
    signal,
    redirectsMax: REDIRECTS_MAX,
    mayLoseEncryption: true,
  });
  const collected = await collectBody(reply.body, bytesMax, (bytes) => memory.add(bytes));
  if (!("bytes" in collected)) throw new Error("a bounded body exceeded its bound");
  const contentType = reply.headers.get("content-type") ?? undefined;
  const retryAfter = reply.headers.get("retry-after") ?? undefined;
  const refresh = reply.headers.get("refresh") ?? undefined;
  return { bytes: collected.bytes, contentType, url: reply.url, status: reply.status, retryAfter, refresh };
}

const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/pdf;q=0.8,*/*;q=0.7";

function headersOf({ headers, languages, userAgent }: PageFetch): Headers {
  const sent = new Headers({
    accept: ACCEPT,
    "accept-encoding": "gzip, deflate, br, zstd",
    "accept-language": languages.length > 0 ? acceptLanguage(languages) : "en-US,en;q=0.9,*;q=0.5",
    "user-agent": userAgent,
  });
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  // A page in another encoding could not be read.
  sent.set("accept-encoding", "gzip, deflate, br, zstd");
  return sent;
}

function acceptLanguage(languages: readonly string[]): string {
  return languages.map((language, index) => (index === 0 ? language : `${language};q=${quality(index)}`)).join(",");
}

function quality(index: number): string {
  return Math.max(1 - index * 0.1, 0.1).toFixed(1);
}
