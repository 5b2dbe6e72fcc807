/** An upstream with Firecrawl's v2 API: its requests and answers are relayed unchanged. */
import { createHash } from "node:crypto";
import {
  type AskUpstream,
  GatewayError,
  type JsonObject,
  limits,
  listOf,
  objectOf,
  parseObject,
  type UpstreamReply,
  type Usage,
} from "../../../core/index.ts";
import { OutboundError, type Outbound } from "../../../outbound/index.ts";
import { keyRedactor } from "../../../routing/index.ts";
import { keptFromClient } from "../../../sending/index.ts";
import type { MemoryBudget } from "../../../streaming/index.ts";
import { collectBody } from "../../../upstream/index.ts";
import {
  EngineRefusal,
  type MappedSite,
  type ScrapedPage,
  type SiteLink,
  type WebEngine,
  type WebPlan,
  type WorkContext,
} from "../../engine.ts";
import { pageFailure } from "../../failures.ts";
import { requestTimeout } from "../../request-timeout.ts";

/** How long a connection to the upstream may take to open. */
const CONNECT_MS_MAX = 10_000;

/** The look-up of a page's host before the request is relayed. */
const CHECK_MS_MAX = 5_000;

/** The time that the upstream needs beside that of the page. */
const MARGIN_MS = 30_000;

/** Credits of the upstream for the format json, beside the page's. Source: `docs/wire/firecrawl.md`. */
const JSON_CREDITS = 4;

export interface FirecrawlOptions {
  /** Without /v2. */
  baseUrl: string;
  apiKey: string;
  ask: AskUpstream;
  /** Private addresses are refused here, whatever the upstream would do. */
  outbound: Pick<Outbound, "check">;
  memory: MemoryBudget;
}

interface Answer {
  bytes: Buffer;
  json: JsonObject;
}

export class FirecrawlEngine implements WebEngine {
  readonly #options: FirecrawlOptions;
  readonly #redact: (text: string) => string;

  constructor(options: FirecrawlOptions) {
    this.#options = options;
    this.#redact = keyRedactor([options.apiKey]);
  }

  /** The upstream's charge is charged here too, even beyond the hold: a PDF's pages are counted by the upstream. */
  planScrape(body: JsonObject): WebPlan<ScrapedPage> {
    const url = urlOf(body);
    const pages = expectedCredits(body);
    return {
      bound: { pages: pages + furtherPdfPages(body) },
      run: async (context) => {
        const ownBody = withOwnHistory(body, context.principal.user);
        const { json, bytes } = await this.#ask("scrape", { body: ownBody, url, context });
        const document = objectOf(json["data"]) ?? {};
        const metadata = objectOf(document["metadata"]) ?? {};
        const usage = { pages: creditsIn(metadata) ?? pages };
        const statusCode = typeof metadata["statusCode"] === "number" ? metadata["statusCode"] : 200;
        return { document, usage, spent: 0n, links: textsOf(document["links"]), statusCode, relayed: bytes };
      },
    };
  }

  planMap(body: JsonObject): WebPlan<MappedSite> {
    const url = urlOf(body);
    return {
      bound: { maps: 1 },
      run: async (context) => {
        const { json, bytes } = await this.#ask("map", { body, url, context });
        const usage: Usage = { maps: creditsIn(json) ?? 1 };
        return { links: linksOf(json["links"]), usage, spent: 0n, relayed: bytes };
      },
    };
  }

  /** Asks for one thing, with the caller's own body. Rejects with an `EngineRefusal` unless it succeeds. */
  async #ask(path: string, { body, url, context }: { body: JsonObject; url: string; context: WorkContext }) {
    const { baseUrl, apiKey, ask, memory } = this.#options;
    await this.#check(url);
    const share = memory.share();
    const late = new Error("the request took too long");
    const timeout = requestTimeout(context.signal, requestedMs(body) + MARGIN_MS, late);
    try {
      const reply = await ask({
        method: "POST",
        url: `${baseUrl}/v2/${path}`,
        headers: new Headers({
          authorization: `Bearer ${apiKey}`,
          "content-type": "application/json",
          accept: "application/json",
        }),
        body: JSON.stringify(body),
        signal: timeout.signal,
        connectMsMax: CONNECT_MS_MAX,
      });
      const collected = await collectBody(reply.body, limits.upstreamAnswerBytesMax, (bytes) => share.add(bytes));
      const bytes = "bytes" in collected ? collected.bytes : Buffer.alloc(0);
      const json = parseObject(bytes.toString());
      const failure = { name: reply.status === 401 ? ("key_refused" as const) : ("request" as const) };
      const kept =
        reply.status === 200 ? undefined : keptFromClient("web/firecrawl", { status: reply.status, failure });
      if (kept !== undefined) throw kept;
      if (json === undefined) throw new GatewayError("upstream_invalid_answer", "The web engine's answer is no JSON.");
      if (reply.status !== 200 || json["success"] === false) throw this.#refusalOf(reply, bytes);
      return { bytes, json } satisfies Answer;
    } catch (cause) {
      if (cause instanceof GatewayError || cause instanceof EngineRefusal || context.signal.aborted) throw cause;
      if (timeout.signal.aborted)
        throw new GatewayError("upstream_timeout", "The web engine did not answer in time.", { cause });
      throw new GatewayError("upstream_unreachable", "The web engine could not be reached.", { cause });
    } finally {
      timeout.end();
      share.free();
    }
  }

  /** The refusal, without the key. */
  #refusalOf({ status, headers }: UpstreamReply, body: Buffer): EngineRefusal {
    const relayed: Record<string, string> = { "content-type": headers.get("content-type") ?? "application/json" };
    const retryAfter = headers.get("retry-after");
    if (retryAfter !== null) relayed["retry-after"] = retryAfter;
    return new EngineRefusal(status === 200 ? 502 : status, Buffer.from(this.#redact(body.toString())), relayed);
  }

  /** Refuses private addresses. Of a host that has no address here, the upstream may know better. */
  async #check(url: string): Promise<void> {
    try {
      await this.#options.outbound.check(url, { timeoutMs: CHECK_MS_MAX });
    } catch (reason) {
      if (reason instanceof OutboundError && reason.failure !== "refused") return;
      throw pageFailure(reason);
    }
  }
}

/** The body with tags of this user alone: of pages with one tag, the upstream compares whatever any of its key's users has read. */
function withOwnHistory(body: JsonObject, user: string): JsonObject {
  const formats = body["formats"];
  if (!Array.isArray(formats)) return body;
  const own = formats.map((format: unknown) => {
    const asked = format === "changeTracking" ? { type: format } : objectOf(format);
    if (asked?.["type"] !== "changeTracking") return format;
    const { tag } = asked;
    const hash = createHash("sha256").update(`${user.length} ${user} ${typeof tag === "string" ? tag : ""}`);
    return { ...asked, tag: hash.digest("hex") };
  });
  return { ...body, formats: own };
}

function urlOf({ url }: JsonObject): string {
  if (typeof url === "string" && url !== "") return url;
  throw new GatewayError("validation_failed", "url: Required", { param: "url" });
}

function requestedMs({ timeout }: JsonObject): number {
  return typeof timeout === "number" && timeout > 0 ? timeout : 60_000;
}

/** The upstream's price of the request, for an answer without one. */
function expectedCredits({ formats }: JsonObject): number {
  const wantsJson = listOf(formats).some((format) => {
    const { type, modes } = objectOf(format) ?? {};
    return type === "json" || (type === "changeTracking" && listOf(modes).includes("json"));
  });
  return wantsJson ? 1 + JSON_CREDITS : 1;
}

/** The pages of a PDF besides the first that the request permits, if it names a number. */
function furtherPdfPages({ parsers }: JsonObject): number {
  const allowed = listOf(parsers).map((parser) => objectOf(parser)?.["maxPages"]);
  return Math.max(0, ...allowed.map((pages) => (typeof pages === "number" ? Math.trunc(pages) - 1 : 0)));
}

/** In whole credits of the upstream; a fraction counts as a whole one. */
function creditsIn({ creditsUsed }: JsonObject): number | undefined {
  return typeof creditsUsed === "number" && creditsUsed >= 0 ? Math.ceil(creditsUsed) : undefined;
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

function linksOf(value: unknown): SiteLink[] {
  return listOf(value).flatMap((each) => {
    const url = typeof each === "string" ? each : objectOf(each)?.["url"];
    return typeof url === "string" ? [{ url }] : [];
  });
}
