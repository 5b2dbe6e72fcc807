/** The contract of every `TargetStore`, on either engine, and how soon another process learns of its changes. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AuditLog } from "../../src/audit/index.ts";
import { disableTarget, enableTarget, openTargetStore, type TargetState } from "../../src/routing/index.ts";
import type { Storage } from "../../src/storage/index.ts";
import { type PostgresServer, startPostgres, until } from "../kit/index.ts";
import { openStorage } from "../kit/storage.ts";

const state: TargetState = {
  id: "a/m one.example/v1",
  kind: "open",
  openUntil: 2 ** 42,
  pauseMs: 5_000,
  process: "p",
  changedAt: 2 ** 41,
};

/** `locate` is called for each test; two processes open what it names. */
function describeTargetStore(name: string, locate: () => string | Promise<string>): void {
  describe(`what is known of targets, on ${name}`, () => {
    let [storage, other]: Storage[] = [];
    const opened = (which: Storage | undefined): Storage => which ?? expect.unreachable();

    beforeEach(async () => {
      const location = await locate();
      [storage, other] = [await openStorage(location), await openStorage(location)];
    });
    afterEach(async () => {
      await storage?.close();
      await other?.close();
    });

    test("is the last change of each, from a time on, in order", async () => {
      const store = openTargetStore(opened(storage));
      await store.putState(state);
      const later: TargetState = { ...state, kind: "works", openUntil: 0, pauseMs: 0, changedAt: state.changedAt + 2 };
      const key: TargetState = { ...later, id: "k", kind: "refused", changedAt: state.changedAt + 1 };
      await store.putState(later);
      await store.putState(key);
      expect(await openTargetStore(opened(other)).statesSince(state.changedAt)).toEqual([key, later]);
      expect(await store.statesSince(later.changedAt)).toEqual([later]);
      await store.removeStatesBefore(later.changedAt);
      expect(await store.statesSince(0)).toEqual([key, later]);
      await store.putState({ ...key, kind: "repaired" });
      await store.removeStatesBefore(later.changedAt);
      expect(await store.statesSince(0)).toEqual([later]);
    });

    test("has the operator's decisions until they expire, by target", async () => {
      const store = openTargetStore(opened(storage));
      const lasting = { target: "b/m", until: undefined, reason: undefined, actor: "cli:me", createdAt: 1 };
      const short = { target: "a", until: 100, reason: "slow ä", actor: "cli:me", createdAt: 1 };
      const acts = { log: new AuditLog({ storage: opened(storage), clock: () => 1 }), clock: () => 1 };
      const by = { actor: { name: "cli:me" } };
      await disableTarget(acts, lasting, by);
      await disableTarget(acts, short, { ...by, reason: short.reason });
      expect(await store.overrides(99)).toEqual([short, lasting]);
      expect(await store.overrides(100)).toEqual([lasting]);
      await disableTarget(acts, { target: "a", until: 200 }, by);
      expect(await store.overrides(100)).toMatchObject([{ target: "a", until: 200, reason: undefined }, {}]);
      expect([await enableTarget(acts, "a", by), await enableTarget(acts, "a", by)]).toEqual([true, false]);
      expect((await acts.log.list({ limit: 9 })).map(({ act, target, reason }) => [act, target, reason])).toEqual([
        ["target.enable", "target:a", undefined],
        ["target.disable", "target:a", undefined],
        ["target.disable", "target:a", "slow ä"],
        ["target.disable", "target:b/m", undefined],
      ]);
    });

    test("reaches other processes within a second", async () => {
      const acts = { log: new AuditLog({ storage: opened(storage), clock: () => 1 }), clock: () => 1 };
      let reports = 0;
      opened(other).onForeignCommit(() => (reports += 1), "targets");
      const store = openTargetStore(opened(storage));
      await until("it listens", async () => {
        await store.putState(state);
        return reports > 0;
      });
      for (const write of [
        () => store.putState({ ...state, changedAt: state.changedAt + 1 }),
        () => disableTarget(acts, { target: "a", until: undefined }, { actor: { name: "me" } }),
        () => enableTarget(acts, "a", { actor: { name: "me" } }),
      ]) {
        const [before, at] = [reports, performance.now()];
        await write();
        await until("it is reported", () => reports > before);
        expect(performance.now() - at).toBeLessThan(1_000);
      }
    });
  });
}

describe("in a file", () => {
  let folder: string;
  let files = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tollgate-targets-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  describeTargetStore("sqlite", () => `sqlite:${join(folder, `${(files += 1)}.db`)}`);
});

describe("with a server", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  describeTargetStore("postgres", () => server.createDatabase());
});
