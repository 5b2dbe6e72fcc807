/**
 * The migration of databases that were made by the version before holds and rows of jobs changed in one commit
 * (`__fixtures__/sqlite-step-19.sql`, `postgres-step-19.sql`): its open holds end with the names that were written in one text, its
 * retry keys are answered, and its nodes go on beside the new ones.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openGenerationStore } from "../../src/generations/index.ts";
import { openJobStore } from "../../src/jobs/index.ts";
import { type Hold, type LedgerStore, openLedgerStore } from "../../src/ledger/index.ts";
import type { PostgresStorage, Storage } from "../../src/storage/index.ts";
import { openStorage } from "../kit/storage.ts";
import { engines } from "../kit/index.ts";
import { earlierVersion } from "./dumps.ts";

/** When that version took the holds. */
const noon = Date.UTC(2026, 10, 26, 12);
const minute = 60_000;
const day = 86_400_000;
const accountId = "token:ann-1";

let storage: Storage;
let ledger: LedgerStore;

const copyFor = earlierVersion({ sqlite: "sqlite-step-19.sql", postgres: "postgres-step-19.sql" });

const again = (id: string, key: string, fingerprint = `of ${key}`): Hold => ({
  kind: "hold",
  id,
  accountId,
  amount: 10n,
  operation: "chat",
  provider: "p",
  model: "m",
  dialect: "chat",
  streamed: true,
  at: noon + minute,
  leaseUntil: noon + 2 * minute,
  retry: { key, fingerprint },
});

/** The parts of a record that come from the hold. */
async function recordOf(id: string): Promise<object> {
  const found = await openGenerationStore(storage).find(id, "ann");
  if (found === undefined) throw new Error(`${id} has no record`);
  const { operation, provider, model, dialect, streamed, outcome, credits, parent } = found;
  return { operation, provider, model, dialect, streamed, outcome, credits, parent };
}

const expired = { dialect: undefined, streamed: false, outcome: "expired", credits: 0n, parent: undefined } as const;

describe.each(engines)("a database of the previous version, on %s,", (engine) => {
  beforeEach(async () => {
    storage = await openStorage(await copyFor(engine));
    ledger = openLedgerStore(storage);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toMatchObject({ drifts: [] });
    await storage.close();
  });

  test("lists its open holds as before", async () => {
    const listed = (await ledger.openHolds()).map(({ id, description, keeper }) => [id, description, keeper]);
    expect(listed).toEqual([
      ["left-job", "video_generation xai/imagine", "process"],
      ["open-bare", "rerank /", "process"],
      ["open-chat", "chat ollama/org/some model:7b", "process"],
      ["open-claim", "responses openai/o'del", "process"],
      ["open-page", "crawl web/native", "job"],
      ["open-video", "video_generation xai/imagine", "job"],
    ]);
  });

  test("records the holds that run out under their names, and charges what they owe", async () => {
    expect(await ledger.commit([{ kind: "sweep", at: noon + 2 * day }])).toEqual([{ outcome: "swept", expired: 6 }]);
    const video = { operation: "video_generation", provider: "xai", model: "imagine" };
    expect(await recordOf("open-chat")).toEqual({
      ...expired,
      operation: "chat",
      provider: "ollama",
      model: "org/some model:7b",
      credits: 15n,
    });
    expect(await recordOf("open-claim")).toEqual({
      ...expired,
      operation: "responses",
      provider: "openai",
      model: "o'del",
    });
    expect(await recordOf("open-bare")).toEqual({ ...expired, operation: "rerank", provider: "", model: "" });
    expect(await recordOf("open-video")).toEqual({ ...expired, ...video, credits: 100n, parent: "series-1" });
    expect(await recordOf("left-job")).toEqual({ ...expired, ...video });
    expect(await recordOf("open-page")).toEqual({
      ...expired,
      operation: "crawl",
      provider: "web",
      model: "native",
      credits: 100n,
      parent: "crawl-1",
    });
  });

  test("answers its retry keys: those of calls, and those of videos, which had a table of their own", async () => {
    const answers = await ledger.commit([
      again("a", "answered"),
      again("b", "running"),
      again("c", "of-video", "of video"),
      again("d", "of-video"),
      again("e", "unanswered"),
    ]);
    const headers = [["content-type", "application/json"]];
    const bytes = (text: string) => new TextEncoder().encode(text);
    expect(answers).toMatchObject([
      { outcome: "replayed", id: "answered", answer: { status: 200, headers, body: bytes('{"n":1}') } },
      { outcome: "retry-running" },
      {
        outcome: "replayed",
        id: "open-video",
        answer: { status: 200, headers, body: bytes('{"id":"vid_1","status":"queued"}') },
      },
      { outcome: "retry-mismatch" },
      { outcome: "retry-running" },
    ]);
    // A creation without an answer frees its key at its end; the answer of the other one outlives its video.
    await ledger.commit([
      { kind: "release", id: "left-job", at: noon + minute },
      { kind: "settle", id: "open-video", amount: 60n, at: noon + minute },
    ]);
    expect(await ledger.commit([again("f", "unanswered"), again("g", "of-video", "of video")])).toMatchObject([
      { outcome: "held" },
      { outcome: "replayed" },
    ]);
  });

  test("hands its open holds over to new jobs, and keeps the jobs that it has", async () => {
    const job = { kind: "video", owner: "ann", payload: { parked: {} }, runAt: noon, createdAt: noon };
    const park = (id: string) => ({ kind: "park", id, leaseUntil: noon + day, job: { id, ...job } }) as const;
    // A process that died between the row and the hold: the job's own run ends the work.
    expect(await ledger.commit([park("open-chat"), park("open-video"), park("left-job")])).toEqual([
      { outcome: "parked" },
      { outcome: "exists" },
      { outcome: "conflict" },
    ]);
    const jobs = openJobStore(storage);
    expect(await jobs.find("open-chat")).toMatchObject({ ...job, attempts: 0, lease: undefined });
    expect(await jobs.find("left-job")).toMatchObject({
      payload: { parked: { id: "left-job" } },
      lease: { node: "n" },
    });
  });
});

describe("nodes of the previous version that still run on Postgres", () => {
  let postgres: PostgresStorage;

  beforeEach(async () => {
    const opened = await openStorage(await copyFor("Postgres"));
    if (opened.engine !== "postgres") throw new Error("this is no Postgres");
    postgres = opened;
    storage = opened;
    ledger = openLedgerStore(opened);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toMatchObject({ drifts: [] });
    await postgres.close();
  });

  const at = noon + minute;
  const general = async (...operations: object[]) => {
    const [row] = await postgres.statements.run<{ outcomes: string[] }>("SELECT * FROM ledger_commit($1, $2, NULL)", [
      JSON.stringify(operations),
      ["1"],
    ]);
    return row?.outcomes;
  };

  test("take holds with both of their functions, and these are recorded under their names", async () => {
    const links = `{"(30,${accountId},user:ann,1,5,${at},,,,,,,,,,)","(30,user:ann,,,,,,,,,,,,,,)"}`;
    const held = `{"(30,req_a,${accountId},chat p/org/m,${at},${at},5,series-2)"}`;
    const [row] = await postgres.statements.run<{ answer: unknown }>(
      "SELECT ledger_commit_plain_5($1, $2, $3, false, $4, $5, '{}', '{}') AS answer",
      [at, "req_a", "req_a", links, held],
    );
    expect(row?.answer).toEqual([]);
    const asked = { kind: "hold", id: "req_b", account: accountId, amount: "30", purpose: "embeddings q/n", at };
    expect(await general({ ...asked, tokens: 0, lease_until: at + minute })).toEqual(["held"]);
    expect(await general({ kind: "renew", id: "req_b", lease_until: at + minute, keeper: "job" })).toEqual(["renewed"]);
    // They write and read this text.
    const texts = await postgres.statements.run("SELECT id, purpose FROM holds WHERE id LIKE 'req_%' ORDER BY id");
    expect([...texts]).toEqual([
      { id: "req_a", purpose: "chat p/org/m" },
      { id: "req_b", purpose: "embeddings q/n" },
    ]);
    const listed = (await ledger.openHolds()).flatMap(({ id, description }) =>
      id.startsWith("req_") ? [description] : [],
    );
    expect(listed.toSorted()).toEqual(["chat p/org/m", "embeddings q/n"]);
    expect(await general({ kind: "sweep", at: noon + 2 * day })).toEqual(["swept"]);
    const names = { operation: "chat", provider: "p", model: "org/m" };
    expect(await recordOf("req_a")).toEqual({ ...expired, ...names, parent: "series-2" });
    const others = { operation: "embeddings", provider: "q", model: "n" };
    expect(await recordOf("req_b")).toEqual({ ...expired, ...others, credits: 30n });
  });

  test("end the holds that new nodes have taken and parked, and leave the answers that these have kept", async () => {
    const answer = { status: 200, headers: [], body: new Uint8Array() };
    const job = { id: "req_c", kind: "video", owner: "ann", payload: {}, runAt: at, createdAt: at };
    await ledger.commit([again("req_c", "new")]);
    await ledger.commit([
      { kind: "park", id: "req_c", leaseUntil: noon + day, job },
      { kind: "keep-answer", id: "req_c", accountId, key: "new", until: noon + day, answer },
    ]);
    expect(await general({ kind: "settle", id: "req_c", amount: "7", at })).toEqual(["settled"]);
    expect(await ledger.commit([again("req_d", "new")])).toEqual([{ outcome: "replayed", id: "req_c", answer }]);
  });
});
