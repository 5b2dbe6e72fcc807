/** The rules of robots.txt (RFC 9309), read once an hour for each origin. */
import robotsParser from "robots-parser";
import type { CallSignal, Clock, ReplyBody } from "../../core/index.ts";
import { type Outbound, OutboundError, retryAfterMs } from "../../outbound/index.ts";
import { firstBytes } from "../first-bytes.ts";

/** The protocol's own least bound; a rule beyond it is not read. */
const BYTES_MAX = 512 * 1024;

/** Lines that are read: each address is compared with every rule. */
const LINES_MAX = 5_000;

/**
 * Characters after the first wildcard of a line, in all lines that are read: each is compared with every place in an address,
 * which takes 2 ns. An address of 2,000 characters takes 0.1 s at the most.
 */
const WILD_CHARACTERS_MAX = 30_000;

const TTL_MS = 3_600_000;
const FAILED_TTL_MS = 60_000;
/** The least time after which a server that has too many requests is asked again. */
const RETRY_MS_MIN = 1_000;
const TIMEOUT_MS = 10_000;
const REDIRECTS_MAX = 5;
const ORIGINS_MAX = 2_000;

/** A longer pause would turn a crawl of a hundred pages into one of days. */
const DELAY_MS_MAX = 30_000;

/** Whose rules apply if the request names nobody. */
const AGENT = "Tollgate";

export interface RobotsRules {
  /** `agent` is the name by which the rules are read. */
  isAllowed(url: string, agent: string | undefined): boolean;
  /** The pause between two pages, in milliseconds; zero if none is demanded. */
  delayMs(agent: string | undefined): number;
  sitemaps: readonly string[];
  /** The milliseconds after which a server that had too many requests may be asked again; nothing is allowed meanwhile. */
  retryAfterMs?: number | undefined;
  /** What was left out: undefined for rules that are obeyed as they are. */
  problem(agent: string | undefined): RobotsProblem | undefined;
}

export type RobotsProblem = "ROBOTS_TRUNCATED" | "ROBOTS_UNAVAILABLE" | "CRAWL_DELAY_CAPPED";

export const robotsProblems: Readonly<Record<RobotsProblem, string>> = {
  ROBOTS_TRUNCATED: "robots.txt is too long: only its beginning is obeyed.",
  ROBOTS_UNAVAILABLE: "The server failed to answer for robots.txt, or took too long: nothing is crawled there.",
  CRAWL_DELAY_CAPPED: "The crawl delay of robots.txt is longer than 30 seconds: 30 seconds are kept.",
};

export interface RobotsOptions {
  outbound: Pick<Outbound, "fetch">;
  clock: Clock;
  userAgent: string;
}

interface Entry {
  rules: Promise<RobotsRules>;
  until: number;
}

export class Robots {
  readonly #options: RobotsOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: RobotsOptions) {
    this.#options = options;
  }

  /** The rules for the origin of this address. Never rejects. */
  of(url: string): Promise<RobotsRules> {
    const { origin } = new URL(url);
    const now = this.#options.clock();
    const known = this.#entries.get(origin);
    if (known !== undefined && known.until > now) return known.rules;
    if (this.#entries.size >= ORIGINS_MAX) this.#entries.clear();
    const entry: Entry = { rules: Promise.resolve(forbidden), until: now + TTL_MS };
    this.#entries.set(origin, entry);
    entry.rules = this.#readFor(entry, origin, now);
    return entry.rules;
  }

  async #readFor(entry: Entry, origin: string, now: number): Promise<RobotsRules> {
    const rules = await this.#read(origin, { timeoutMs: TIMEOUT_MS });
    const { retryAfterMs: waitMs = rules === forbidden ? FAILED_TTL_MS : undefined } = rules;
    if (waitMs !== undefined) entry.until = now + Math.min(Math.max(waitMs, RETRY_MS_MIN), TTL_MS);
    return rules;
  }

  /** The rules as the origin of this address answers now, for a caller of its own time. Rejects with the reason of the signal. */
  now(url: string, { timeoutMs, signal }: { timeoutMs: number; signal: CallSignal }): Promise<RobotsRules> {
    return this.#read(new URL(url).origin, { timeoutMs: Math.min(timeoutMs, TIMEOUT_MS), signal });
  }

  async #read(origin: string, { timeoutMs, signal }: { timeoutMs: number; signal?: CallSignal }): Promise<RobotsRules> {
    const url = `${origin}/robots.txt`;
    try {
      const { status, headers, body } = await this.#options.outbound.fetch({
        url,
        headers: new Headers({ "user-agent": this.#options.userAgent, "accept-encoding": "gzip, deflate, br" }),
        bytesMax: 64 * BYTES_MAX,
        timeoutMs,
        redirectsMax: REDIRECTS_MAX,
        mayLoseEncryption: true,
        ...(signal && { signal }),
      });
      if (status !== 200) {
        body.cancel();
        if (status < 500 && status !== 429) return rulesOf(url, "", undefined);
        const isBusy = status === 429 || status === 503;
        const waitMs = isBusy ? retryAfterMs(headers.get("retry-after"), this.#options.clock()) : undefined;
        return waitMs === undefined ? forbidden : { ...forbidden, retryAfterMs: waitMs };
      }
      const { text, isTruncated } = await beginningOf(body);
      return rulesOf(url, text, isTruncated ? "ROBOTS_TRUNCATED" : undefined);
    } catch (reason) {
      if (signal?.aborted === true) throw reason;
      // The pages themselves will fail with any other reason.
      if (!(reason instanceof OutboundError) || reason.failure !== "timeout") return rulesOf(url, "", undefined);
      return forbidden;
    }
  }
}

const forbidden: RobotsRules = {
  isAllowed: () => false,
  delayMs: () => 0,
  sitemaps: [],
  problem: () => "ROBOTS_UNAVAILABLE",
};

/** Letters, digits, hyphens, points, underscores and tildes, escaped. */
const ESCAPED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi;

/** An address and a rule are compared with such characters as they are, however each is written. */
function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPED, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
}

function rulesOf(url: string, text: string, problem: RobotsProblem | undefined): RobotsRules {
  const parsed = robotsParser(url, withoutEscapes(text));
  const demanded = (agent: string | undefined): number => (parsed.getCrawlDelay(agent ?? AGENT) ?? 0) * 1_000;
  return {
    isAllowed: (each, agent) => parsed.isAllowed(withoutEscapes(each), agent ?? AGENT) !== false,
    delayMs: (agent) => Math.ceil(Math.min(Math.max(0, demanded(agent)), DELAY_MS_MAX)),
    sitemaps: parsed.getSitemaps(),
    problem: (agent) => problem ?? (demanded(agent) > DELAY_MS_MAX ? "CRAWL_DELAY_CAPPED" : undefined),
  };
}

/** The first bytes and lines; the rest is not awaited. */
async function beginningOf(body: ReplyBody): Promise<{ text: string; isTruncated: boolean }> {
  const { bytes, isTruncated, failure } = await firstBytes(body, BYTES_MAX);
  if (failure !== undefined) throw failure.cause;
  const lines = bytes.toString().split(/\r\n|\r|\n/, LINES_MAX + 1);
  // The last line of what was cut off may be half a rule.
  if (isTruncated) lines.pop();
  let wild = 0;
  const end = lines.slice(0, LINES_MAX).findIndex((line) => (wild += wildCharactersOf(line)) > WILD_CHARACTERS_MAX);
  const read = lines.slice(0, end < 0 ? LINES_MAX : end);
  return { text: read.join("\n"), isTruncated: isTruncated || read.length < lines.length };
}

function wildCharactersOf(line: string): number {
  const first = line.indexOf("*");
  return first < 0 ? 0 : line.length - first - 1;
}
