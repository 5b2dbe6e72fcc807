/** How long the thread that answers calls is held while lists, sums and exports are read on SQLite, from a gateway that runs. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addBudget, applyPeople, createToken } from "../../src/accounts/index.ts";
import { createAccounts } from "../../src/app/accounts.ts";
import { openStorage } from "../../src/app/storage.ts";
import { adminRoutes } from "../../src/http/index.ts";
import { busyUser, fill } from "../growth/fill.ts";
import { preparedTollgate } from "../proxies/index.ts";
import { median } from "../report/median.ts";
import { progress, type Rig } from "../scenarios/rig.ts";
import { longestBetween, noteMs, pausesFileVariable } from "./notes.ts";

const DAY_MS = 86_400_000;
const spanDays = 365;

/** Users, each with a token and a budget: a whole page of each. */
const people = 500;

/** The first requests compile the code of a list. */
const warmUpRequests = 15;
const requests = 20;

interface PauseFigure {
  path: string;
  /** Of an answer. */
  bytes: number;
  /** The median time of an answer, in milliseconds. */
  ms: number;
  /** The longest stretch of the thread in the median request, and in all of them, in milliseconds. */
  median: number;
  longest: number;
}

export interface PausesFigures {
  calls: number;
  /** The longest stretch without requests, in milliseconds: the thread's own work. */
  idle: number;
  lists: PauseFigure[];
}

export async function measurePauses(rig: Rig, program: string, calls: number): Promise<PausesFigures> {
  const file = join(rig.context.children.directory, "pauses");
  writeFileSync(file, "");
  let token = "";
  const prepare = async (url: string): Promise<void> => {
    progress(`pauses: ${calls} calls are written`);
    token = await prepared(url, calls);
  };
  const preload = join(import.meta.dirname, "watch-thread.ts");
  const variables = { [pausesFileVariable]: file, BUN_OPTIONS: `--preload=${preload}` };
  const running = await preparedTollgate(program, prepare, variables).start(rig.context);
  try {
    const idle = await whileAwaiting(file, () => Bun.sleep(2_000));
    const lists: PauseFigure[] = [];
    for (const path of pathsOf()) {
      progress(`pauses: ${path}`);
      lists.push(await measureList({ file, url: `http://127.0.0.1:${running.target.port}${path}`, token, path }));
    }
    return { calls, idle, lists };
  } finally {
    await running.stop();
  }
}

/** Fills the storage, and resolves with an owner's token. */
async function prepared(url: string, calls: number): Promise<string> {
  const storage = await openStorage(url);
  const today = Math.floor(Date.now() / DAY_MS);
  await fill(storage, url, { calls, from: (today - spanDays) * DAY_MS, to: today * DAY_MS });
  const environment = { clock: Date.now, randomBytes: (size: number) => randomBytes(size) };
  const deps = createAccounts(storage, environment, "bench");
  const { token } = await createToken(deps, { user: "root", role: "owner" });
  const names = Array.from({ length: people }, (_, index) => `member-${index}`);
  await applyPeople(
    deps,
    names.map((name) => ({ name, token: true, changes: { rpm: 60, maxBudget: 10n ** 12n } })),
  );
  for (const name of names) await addBudget(deps, { kind: "user", name }, { maxBudget: 10n ** 12n, period: "weekly" });
  await storage.close();
  return token;
}

/** All lists and sums with pages of 500 rows, those of one owner, and two exports: of the calls of 30 days, and of sums. */
function pathsOf(): string[] {
  const lists = adminRoutes.filter(({ method, path }) => method === "get" && !path.includes("{"));
  const paths = lists.map(({ path, contract }) => (hasLimit(contract) ? `${path}?limit=500` : path));
  const further = [`entries?user=${busyUser}&limit=500`, "entries?kind=expire", "generations?format=csv&limit=500"];
  return [...paths, ...further.map((each) => `/admin/v1/${each}`)];
}

function hasLimit(contract: (typeof adminRoutes)[number]["contract"]): boolean {
  const { query } = contract?.request ?? {};
  return query !== undefined && "shape" in query && "limit" in (query.shape as object);
}

interface ListRequest {
  file: string;
  url: string;
  token: string;
  path: string;
}

async function measureList({ file, url, token, path }: ListRequest): Promise<PauseFigure> {
  const times: number[] = [];
  let bytes = 0;
  const ask = async (): Promise<void> => {
    const began = performance.now();
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    bytes = (await answer.arrayBuffer()).byteLength;
    times.push(performance.now() - began);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  };
  for (let count = 0; count < warmUpRequests; count += 1) await ask();
  const stretches: number[] = [];
  for (let count = 0; count < requests; count += 1) stretches.push(await whileAwaiting(file, ask));
  const ms = median(times.slice(warmUpRequests));
  return { path, bytes, ms, median: median(stretches), longest: Math.max(...stretches) };
}

/** The longest stretch of the thread while this is awaited. */
async function whileAwaiting(file: string, work: () => Promise<void>): Promise<number> {
  // The note of the time before.
  await Bun.sleep(2 * noteMs);
  const from = Date.now();
  await work();
  await Bun.sleep(2 * noteMs);
  return longestBetween(file, from, Date.now());
}
