/**
 * A process of its own: people with the console open. Two of them follow the calls on two pages each, each page that asks again is open
 * in two windows, and somebody opens another page every second. It takes no part in drawing them.
 */
import { sayLine, serveLines } from "../http1/lines.ts";
import type { ConsolePage } from "./pages.ts";

/** The job of the process: the tokens with which it signs in, and the pages. Null ends it. */
export interface OpenPagesJob {
  url: string;
  /** Of two owners. */
  tokens: readonly [string, string];
  pages: readonly ConsolePage[];
}

/** What it has done since it was started. */
export interface OpenPagesResult {
  requests: number;
  /** Answers of another status than 200. */
  failures: number;
  /** Of the streams that follow calls. */
  streamedBytes: number;
}

const STREAMS_OF_EACH = 2;
const WINDOWS = 2;
const OPENED_EVERY_MS = 1_000;

let done: OpenPagesResult = { requests: 0, failures: 0, streamedBytes: 0 };
let stopAll: () => void = () => undefined;

function start({ url, tokens, pages }: OpenPagesJob): void {
  const over = new AbortController();
  const timers: ReturnType<typeof setInterval>[] = [];
  const ask = async (path: string, token: string, accept = "application/json"): Promise<Response> => {
    done.requests += 1;
    const answer = await fetch(url + path, {
      headers: { authorization: `Bearer ${token}`, accept },
      signal: over.signal,
    });
    if (answer.status !== 200) done.failures += 1;
    return answer;
  };
  const askAll = (paths: readonly string[], token: string): void => {
    for (const path of paths)
      void ask(path, token)
        .then((answer) => answer.arrayBuffer())
        .catch(failed);
  };
  const failed = (): void => {
    if (!over.signal.aborted) done.failures += 1;
  };
  const follow = async (token: string): Promise<void> => {
    const { body }: { body: ReadableStream<Uint8Array> | null } = await ask(
      "/admin/v1/generations",
      token,
      "text/event-stream",
    );
    if (body !== null) for await (const bytes of body) done.streamedBytes += bytes.byteLength;
  };
  for (const token of tokens)
    for (let stream = 0; stream < STREAMS_OF_EACH; stream += 1) void follow(token).catch(failed);
  for (const { again } of pages) {
    if (again === undefined) continue;
    for (let window = 0; window < WINDOWS; window += 1) {
      // Windows are opened at different times.
      const first = setTimeout(
        () => timers.push(setInterval(askAll, again.everyMs, again.asks, tokens[0])),
        (again.everyMs * window) / WINDOWS,
      );
      timers.push(first);
    }
  }
  let opened = 0;
  const open = (): void => {
    const page = pages[opened % pages.length];
    opened += 1;
    if (page !== undefined) askAll(["/admin/v1/session", ...page.asks], tokens[1]);
  };
  timers.push(setInterval(open, OPENED_EVERY_MS));
  stopAll = () => {
    over.abort();
    for (const timer of timers) clearInterval(timer);
  };
}

function work(message: unknown): OpenPagesResult {
  const job = message as OpenPagesJob | null;
  const before = done;
  if (job === null) stopAll();
  else {
    done = { requests: 0, failures: 0, streamedBytes: 0 };
    start(job);
  }
  return before;
}

sayLine({ ready: true });
await serveLines(work);
