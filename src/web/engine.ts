import type { Principal } from "../auth/index.ts";
import type { WorkNames } from "../charges/index.ts";
import type { CallSignal, JsonObject, Nano, Usage } from "../core/index.ts";

/** The reader of pages: the gateway itself, or an upstream with Firecrawl's API. */
export interface WebEngine {
  /** Checks a body of `POST /v2/scrape`. Throws 422 `validation_failed` with the member that is at fault. */
  planScrape(body: JsonObject): WebPlan<ScrapedPage>;
  /** Checks a body of `POST /v2/map`; throws likewise. */
  planMap(body: JsonObject): WebPlan<MappedSite>;
}

/** Reads files that callers send: always the gateway itself, whichever engine reads pages. */
export interface FileReader {
  /** Checks the options of `POST /v2/parse`. Throws 422 `validation_failed` with the member that is at fault. */
  planParse(file: SentFile, options: JsonObject): WebPlan<ScrapedPage>;
}

/** A file of a form. */
export interface SentFile {
  name: string;
  /** As its sender named it. */
  mediaType: string | undefined;
  /** In bytes. */
  size: number;
  read: () => Promise<Uint8Array>;
}

/** Work that has been checked and not begun. */
export interface WebPlan<Result> {
  /** The most that it uses, as far as that is known before it begins; more is covered while it runs. */
  bound: Usage;
  /**
   * Does the work. Rejects with a `GatewayError`, with an `EngineRefusal` if an upstream has refused it, or with the
   * reason of the signal.
   */
  run(context: WorkContext): Promise<Result>;
}

/** The parts of its work that a plan needs. */
export interface WorkContext {
  /** The id of the work: the parent of the model's calls. */
  workId: string;
  principal: Principal;
  /** Those that its caller gave the work. */
  names: WorkNames;
  signal: CallSignal;
  /** Of the request; absent for a page of a job. */
  headers?: Headers;
  /** Raises the hold so that it covers this usage; rejects with 402 if the credits do not suffice. */
  cover: (usage: Usage) => Promise<void>;
  /** Whether a page that has been read is worth a model's calls, which are charged whatever becomes of it; by default each is. */
  isWanted?: (page: PageRead) => Promise<boolean>;
}

export interface Performed {
  /** The charged usage of the work itself. */
  usage: Usage;
  /** The cost of a model's calls for it, in nano-credits; they are charged by themselves. */
  spent: Nano;
  /** An upstream's whole answer, which is relayed as it is. */
  relayed?: Uint8Array | undefined;
  /** Called once the result has been answered or stored. Never rejects. */
  delivered?: (() => Promise<void>) | undefined;
}

/** One page in the form of Firecrawl's documents. */
export interface ScrapedPage extends Performed {
  document: JsonObject;
  /** Absolute addresses on the page, whether or not they were requested. */
  links: readonly string[];
  /** The status that the page was answered with. */
  statusCode: number;
  /** The `retry-after` of that answer. */
  retryAfter?: string | undefined;
}

/** What is known of a page before a model is asked: of its document at least the markdown and the metadata. */
export type PageRead = Pick<ScrapedPage, "document" | "statusCode">;

export interface SiteLink {
  url: string;
  title?: string | undefined;
  description?: string | undefined;
}

export interface MappedSite extends Performed {
  links: readonly SiteLink[];
  /** The missing parts, for people. */
  warning?: string | undefined;
}

/** An upstream engine has refused the work or failed: its answer is relayed, and nothing is charged. */
export class EngineRefusal extends Error {
  override name = "EngineRefusal";
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, body: Uint8Array, headers: Readonly<Record<string, string>>) {
    super(`the engine answered ${status}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
