/**
 * The console on books with millions of calls, through a gateway on each store: how long the first requests of each page take, and how
 * much later chat calls are answered while pages are open.
 */
import { join } from "node:path";
import { type Gateway, startGateway } from "../../test/kit/gateway.ts";
import { chatAtFixedTimes, type ChatFigures } from "../beside/chat.ts";
import { busyUser, fill } from "../growth/fill.ts";
import { median } from "../report/median.ts";
import { Children } from "../system/children.ts";
import { Helper } from "../system/helper.ts";
import { onEachStore, type StoreUnderTest } from "../system/stores.ts";
import type { OpenPagesJob, OpenPagesResult } from "./open-pages.ts";
import { consolePages, type ConsolePage, type ShownCall } from "./pages.ts";

export interface ConsolePlan {
  /** In the books, over a year. */
  calls: number;
  /** Each with and without open pages. */
  rounds: number;
  seconds: number;
}

export interface PageFigure {
  title: string;
  /** The slowest of the page's requests, in milliseconds: the first time after the start, and the median of the next. */
  firstMs: number;
  ms: number;
}

export interface ConsoleFigures {
  store: string;
  calls: number;
  pages: PageFigure[];
  /** Medians over the rounds. */
  alone: ChatFigures;
  beside: ChatFigures;
  /** The median of the differences within a round. */
  addedP99: number;
  /** Of the open pages. */
  requestsPerSecond: number;
  /** Why the figures don't count. */
  problem: string | null;
}

const DAY_MS = 86_400_000;
const spanDays = 365;
const chatPerSecond = 200;
const warmUpSeconds = 3;
const repeats = 7;

/** Measures each store. */
export function measureConsole(plan: ConsolePlan, progress: (line: string) => void): Promise<ConsoleFigures[]> {
  return onEachStore((store) => measureStore(store, plan, progress));
}

async function measureStore(
  { name, url, storage }: StoreUnderTest,
  plan: ConsolePlan,
  progress: (line: string) => void,
): Promise<ConsoleFigures> {
  progress(`console: ${name}, ${plan.calls} calls are written`);
  const today = Math.floor(Date.now() / DAY_MS);
  await fill(storage, url, { calls: plan.calls, from: (today - spanDays) * DAY_MS, to: today * DAY_MS });
  const children = new Children();
  const helperOf = (path: string): Helper =>
    new Helper(children.startHelper([process.execPath, join(import.meta.dirname, path)]));
  const upstream = helperOf("../beside/main.ts");
  const { url: provider } = await upstream.next<{ url: string }>();
  const openPages = helperOf("open-pages.ts");
  await openPages.next();
  const gateway = await startGateway({
    storage: url,
    providers: { openai: { kind: "openai", base_url: `${provider}/v1`, api_key: "bench" } },
  });
  try {
    const owners = [await ownerOf(gateway, "ada"), await ownerOf(gateway, "grace")] as const;
    const pages = consolePages(await shownCall(gateway, owners[0]));
    progress(`console: ${name}, the first requests of each page`);
    const figures = await measurePages(gateway, owners[0], pages);
    const job = { url: gateway.url, tokens: owners, pages };
    const chat = await measureChat({ gateway, openPages, job, plan }, (line) => progress(`console: ${name}, ${line}`));
    return { store: name, calls: plan.calls, pages: figures, ...chat };
  } finally {
    await gateway.stop();
    await openPages.stop();
    await upstream.stop();
  }
}

const ownerOf = (gateway: Gateway, user: string): Promise<string> => gateway.token({ user, role: "owner" });

async function ask<Answer>({ url }: Gateway, token: string, path: string): Promise<Answer> {
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

async function shownCall(gateway: Gateway, token: string): Promise<ShownCall> {
  const path = `/admin/v1/generations?user=${busyUser}&limit=1`;
  const { data } = await ask<{ data: ShownCall[] }>(gateway, token, path);
  if (data[0] === undefined) throw new Error("there is no call");
  return data[0];
}

async function measurePages(gateway: Gateway, token: string, pages: readonly ConsolePage[]): Promise<PageFigure[]> {
  const figures: PageFigure[] = [];
  for (const { title, asks } of pages) {
    const times: number[][] = [];
    for (const path of asks) {
      const own: number[] = [];
      for (let time = 0; time <= repeats; time += 1) {
        const began = performance.now();
        await ask(gateway, token, path);
        own.push(performance.now() - began);
      }
      times.push(own);
    }
    const firstMs = Math.max(...times.map(([first = Number.NaN]) => first));
    figures.push({ title, firstMs, ms: Math.max(...times.map(([, ...next]) => median(next))) });
  }
  return figures;
}

interface ChatScene {
  gateway: Gateway;
  openPages: Helper;
  job: OpenPagesJob;
  plan: ConsolePlan;
}

async function measureChat({ gateway, openPages, job, plan }: ChatScene, progress: (line: string) => void) {
  const token = await gateway.token({ user: "bench", service: true });
  const chat = (seconds: number): Promise<ChatFigures> =>
    chatAtFixedTimes({ url: gateway.url, token, perSecond: chatPerSecond, seconds });
  const rounds: { alone: ChatFigures; beside: ChatFigures }[] = [];
  const done = { requests: 0, failures: 0, streamedBytes: 0, seconds: 0 };
  const beside = async (): Promise<ChatFigures> => {
    const began = performance.now();
    await openPages.ask(job);
    await chat(warmUpSeconds);
    const figures = await chat(plan.seconds);
    const { requests, failures, streamedBytes } = await openPages.ask<OpenPagesResult>(null);
    done.requests += requests;
    done.failures += failures;
    done.streamedBytes += streamedBytes;
    done.seconds += (performance.now() - began) / 1_000;
    return figures;
  };
  const alone = async (): Promise<ChatFigures> => {
    await chat(warmUpSeconds);
    return chat(plan.seconds);
  };
  await alone();
  for (let round = 1; round <= plan.rounds; round += 1) {
    progress(`chat beside open pages, round ${round} of ${plan.rounds}`);
    // The order changes, so that neither has the earlier half of the rounds.
    const first = round % 2 === 0 ? await beside() : undefined;
    const without = await alone();
    rounds.push({ alone: without, beside: first ?? (await beside()) });
  }
  const expected = 2 * plan.rounds * Math.floor(chatPerSecond * plan.seconds);
  const answered = rounds.reduce((sum, round) => sum + round.alone.calls + round.beside.calls, 0);
  return {
    alone: medianOf(rounds.map((round) => round.alone)),
    beside: medianOf(rounds.map((round) => round.beside)),
    addedP99: median(rounds.map((round) => round.beside.p99 - round.alone.p99)),
    requestsPerSecond: done.requests / done.seconds,
    problem: problemOf(done, expected - answered),
  };
}

const medianOf = (figures: readonly ChatFigures[]): ChatFigures => ({
  p50: median(figures.map(({ p50 }) => p50)),
  p99: median(figures.map(({ p99 }) => p99)),
  calls: figures.reduce((sum, { calls }) => sum + calls, 0),
});

function problemOf({ failures, streamedBytes }: OpenPagesResult, missingCalls: number): string | null {
  if (missingCalls > 0) return `${missingCalls} chat calls failed`;
  if (failures > 0) return `${failures} requests of pages failed`;
  return streamedBytes === 0 ? "no page has followed the calls" : null;
}
