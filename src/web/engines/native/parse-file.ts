/** Files that a caller sends, read like the pages of the web. */
import { GatewayError, type JsonObject, objectOf } from "../../../core/index.ts";
import { PageError } from "../../../pages/index.ts";
import type { ScrapedPage, SentFile, WorkContext } from "../../engine.ts";
import { chargedFailure, pageFailure } from "../../failures.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import type { PageReading } from "./reading.ts";
import { scraped } from "./scrape-page.ts";
import { needsBrowser, type ScrapePlan } from "./scrape-plan.ts";
import { takeApart } from "./take-apart.ts";

/** The address that a file is read at: nothing is there, and its relative links lead nowhere. */
export function addressOfFile({ name }: SentFile): string {
  return `https://file.invalid/${encodeURIComponent(name.slice(0, 200))}`;
}

/** Throws 422 for a file that is too large, or options that need a browser or a page's history. */
export function checkParse(
  plan: ScrapePlan,
  { size }: SentFile,
  { pageBytesMax }: Pick<NativeDependencies, "pageBytesMax">,
): void {
  if (size > pageBytesMax) throw invalid("file", `has more than ${pageBytesMax} bytes`);
  if (needsBrowser(plan)) throw invalid("options", "screenshot, actions and waitFor need a page of the web");
  if (plan.formats.changes !== undefined) throw invalid("options", "changeTracking needs a page of the web");
}

/** Rejects with 422 if the file can't be read. */
export async function parseFile(
  deps: NativeDependencies,
  { plan, file }: { plan: ScrapePlan; file: SentFile },
  context: WorkContext,
): Promise<ScrapedPage> {
  const memory = deps.memory.share();
  const until = performance.now() + plan.timeoutMs;
  try {
    memory.add(file.size);
    const time = {
      left: () => Math.max(until - performance.now(), 1),
      signal: context.signal,
      owner: context.principal.user,
    };
    const reply = { url: plan.url, status: 200, bytes: await file.read(), contentType: mediaTypeOf(file) };
    const page = await takeApart(deps, plan, reply, time);
    const reading: PageReading = { page, url: file.name, status: 200, contentType: file.mediaType, isRendered: false };
    if (page.scannedPages !== undefined) reading.scan = reply;
    const own = { ...plan, storesInCache: false };
    const read = await scraped(deps, own, { reading, earlier: undefined }, { context, time });
    return { ...read, document: ofFile(read.document, file) };
  } catch (reason) {
    if (reason instanceof PageError && fileFailures.has(reason.failure)) throw invalid("file", reason.message);
    throw chargedFailure(reason, plan) ?? pageFailure(reason);
  } finally {
    memory.free();
  }
}

const fileFailures: ReadonlySet<string> = new Set(["unsupported", "too_large", "malformed"]);

/** Clients without a better name for it call a file so: its bytes tell its kind. */
function mediaTypeOf({ mediaType }: SentFile): string | undefined {
  return mediaType === "application/octet-stream" ? undefined : mediaType;
}

function ofFile(document: JsonObject, { name }: SentFile): JsonObject {
  return { ...document, metadata: { ...objectOf(document["metadata"]), sourceURL: name } };
}

function invalid(param: string, message: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${message}`, { param });
}
