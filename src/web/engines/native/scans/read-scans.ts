/**
 * The pages of a PDF that are pictures, read by the model of `web.vision_model`: some are drawn, the model is asked about each of them,
 * and the document is taken apart again with its answers.
 */
import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { refuseChargeMax } from "../../../../charges/index.ts";
import { abortSignalOf, GatewayError, type Nano, toGatewayError } from "../../../../core/index.ts";
import { PageError, picturesMax } from "../../../../pages/index.ts";
import type { WorkContext } from "../../../engine.ts";
import type { WebModel } from "../../../model.ts";
import type { PageReply } from "../fetch-page.ts";
import type { NativeDependencies } from "../native-dependencies.ts";
import { type PageReading, warned } from "../reading.ts";
import type { ScrapePlan } from "../scrape-plan.ts";
import type { ScrapeTime } from "../scrape-time.ts";
import { takeApart } from "../take-apart.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import type { ScanRequest } from "./scan-texts.ts";

/** Characters of one page. */
const CHARACTERS_MAX = 100_000;

interface ReadScans {
  reading: PageReading;
  /** The cost of the model's calls, which are charged by themselves. */
  spent: Nano;
}

/**
 * Rejects with a `GatewayError` if the caller cannot pay for a call. Whatever else keeps a page from being read, such as a token that may
 * not use the model, leaves it out with a warning: most callers have not asked for it.
 */
export async function readScans(
  deps: NativeDependencies,
  plan: ScrapePlan,
  reading: PageReading,
  { context, time }: { context: WorkContext; time: ScrapeTime },
): Promise<ReadScans> {
  const { scan, page } = reading;
  const { scannedPages = [] } = page;
  const { mode } = plan.pdf;
  if (scan === undefined || scannedPages.length === 0 || mode === "fast") return { reading, spent: 0n };
  const missing = missingReason(deps, context);
  if (missing !== undefined || deps.visionModel === undefined) {
    const isMissed = mode === "ocr" || page.markdown === "" || deps.visionModel !== undefined;
    return { reading: isMissed ? warned(reading, missing ?? NO_MODEL) : reading, spent: 0n };
  }
  const keeps = plan.storesInCache;
  const { recognized, spent, problem } = await recognize(deps, deps.visionModel, {
    scan,
    pages: scannedPages,
    context,
    request: { document: await deps.scanTexts.documentOf(scan.bytes), keeps, time },
  });
  const again = await takeApart(deps, { ...plan, pdf: { ...plan.pdf, recognized } }, scan, {
    ...time,
    // The answers of the model are paid: the time that is over does not take them away.
    left: () => Math.max(time.left(), AGAIN_MS_MIN),
  });
  const unread = scannedPages.length - Object.keys(recognized).length;
  const read = { ...reading, page: again };
  const warning = `Pages that are pictures and could not be read: ${unread}. ${problem ?? "The time was over."}`;
  return { reading: unread > 0 ? warned(read, warning) : read, spent };
}

const NO_MODEL = "No model of this gateway reads pictures of pages: the operator can name one as web.vision_model.";

const AGAIN_MS_MIN = 20_000;

/** Why no page is read from its picture. */
function missingReason({ visionModel }: NativeDependencies, { headers }: WorkContext): string | undefined {
  if (visionModel === undefined) return NO_MODEL;
  try {
    if (headers !== undefined) refuseChargeMax(headers, "the calls of the model that reads pictures of pages");
    return undefined;
  } catch (reason) {
    return toGatewayError(reason).message;
  }
}

interface Scans {
  scan: PageReply;
  pages: readonly number[];
  context: WorkContext;
  request: ScanRequest;
}

/** Documents whose pages can't be drawn so often are given up: each time may have cost a process. */
const FAILURES_MAX = 2;

interface Recognized {
  /** The texts by page. */
  recognized: Record<number, string>;
  /** The cost of this request's own calls. */
  spent: Nano;
  /** Why others are missing. */
  problem: string | undefined;
}

type Deps = Pick<NativeDependencies, "pages" | "scanTexts">;

async function recognize(deps: Deps, model: WebModel, scans: Scans): Promise<Recognized> {
  const { request } = scans;
  const { time } = request;
  const found: Recognized = { recognized: {}, spent: 0n, problem: undefined };
  let failures = 0;
  const read = async (numbers: readonly number[]): Promise<Map<number, string>> => {
    const pictures = await draw(deps, scans, numbers);
    if (pictures instanceof PageError) {
      found.problem ??= `${pictures.message}.`;
      failures += 1;
      return new Map();
    }
    const texts = new Map<number, string>();
    const asked = pictures.flatMap((picture, index) => {
      const number = numbers[index];
      return number === undefined ? [] : [{ number, picture }];
    });
    for (const [index, answer] of (await readPictures(deps, model, asked, scans)).entries()) {
      const number = numbers[index];
      if (answer instanceof GatewayError) found.problem ??= answer.message;
      else {
        found.spent += answer.spent;
        if (answer.text === undefined) found.problem ??= CUT;
        else if (number !== undefined) texts.set(number, answer.text);
      }
    }
    return texts;
  };
  const isGivenUp = (): boolean => failures >= FAILURES_MAX;
  for (let from = 0; from < scans.pages.length && time.left() > 1 && !isGivenUp(); from += picturesMax) {
    const numbers = scans.pages.slice(from, from + picturesMax);
    for (const [number, text] of await deps.scanTexts.read(numbers, request, read)) found.recognized[number] = text;
  }
  return found;
}

async function draw(
  { pages }: Deps,
  { scan, request: { time } }: Scans,
  numbers: readonly number[],
): Promise<readonly Uint8Array[] | PageError> {
  const { signal, owner } = time;
  const options = { owner, signal: abortSignalOf(signal), timeoutMs: time.left() };
  try {
    return await pages.drawPdf(scan.bytes, numbers, options);
  } catch (reason) {
    if (reason instanceof PageError) return reason;
    throw reason;
  }
}

interface Answer {
  /** Undefined for a part of the text, which must not stand for the whole. */
  text: string | undefined;
  spent: Nano;
}

interface DrawnPage {
  number: number;
  picture: Uint8Array;
}

/** Side by side, and those that are too many at the same time one after the other. */
async function readPictures(
  deps: Deps,
  model: WebModel,
  pages: readonly DrawnPage[],
  scans: Scans,
): Promise<(Answer | GatewayError)[]> {
  const answers = await Promise.all(pages.map((page) => readPicture(deps, model, page, scans)));
  for (const [index, page] of pages.entries()) {
    const answer = answers[index];
    if (answer instanceof GatewayError && answer.code === "rate_limit_exceeded")
      answers[index] = await readPicture(deps, model, page, scans);
  }
  return answers;
}

/** The waits for a page that another node is having read: it may also have died. */
const ELSEWHERE_MS = 1_000;
const ELSEWHERE_MS_MAX = 15_000;

/** A page with nothing on it costs no call. */
async function readPicture(
  { scanTexts }: Deps,
  model: WebModel,
  { number, picture }: DrawnPage,
  { context: { principal, workId: parent, names, signal }, request }: Scans,
): Promise<Answer | GatewayError> {
  if (picture.length === 0) return { text: "", spent: 0n };
  const question = { instructions: INSTRUCTIONS, text: "The page:", pictures: [picture] };
  const { document, keeps, time } = request;
  // The answer is stored with it: a request that keeps nothing has none.
  let retryKey = keeps ? `scan-${createHash("sha256").update(`${document} ${number}`).digest("hex")}` : undefined;
  for (let waitedMs = 0; ;) {
    try {
      const asked = { principal, parent, names, signal, ...(retryKey !== undefined && { retryKey }) };
      const { text, spent, isRepeated, isCut } = await model.ask(question, asked);
      if (isCut !== true)
        return { text: text.trim().slice(0, CHARACTERS_MAX), spent: isRepeated === true ? 0n : spent };
      if (isRepeated !== true) return { text: undefined, spent };
      retryKey = undefined;
    } catch (reason) {
      if (signal.aborted || !(reason instanceof GatewayError) || reason.status === PAYMENT_REQUIRED) throw reason;
      if (retryKey === undefined || !keyProblems.has(reason.code) || time.left() <= ELSEWHERE_MS) return reason;
      // Another version has drawn it differently, or its reader is gone.
      if (reason.code !== "idempotency_key_in_use" || waitedMs >= ELSEWHERE_MS_MAX) retryKey = undefined;
    }
    if (retryKey === undefined) continue;
    await setTimeout(ELSEWHERE_MS);
    waitedMs += ELSEWHERE_MS;
    const text = await scanTexts.stored(number, request);
    if (text !== undefined) return { text, spent: 0n };
  }
}

const CUT = "The model did not write down the whole page.";

const keyProblems: ReadonlySet<string> = new Set([
  "idempotency_key_in_use",
  "idempotency_key_reused",
  "idempotency_answer_too_large",
]);

const PAYMENT_REQUIRED = 402;
