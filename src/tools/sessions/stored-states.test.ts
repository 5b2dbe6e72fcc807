import { expect, test } from "bun:test";
import { StoredSessionStates } from "./stored-states.ts";
import { ENDED_STATE, type StoredSession } from "./store.ts";

function scene() {
  const rows = new Map<string, StoredSession>();
  let onForeign = (_session?: string): void => undefined;
  const found: string[] = [];
  let reading: Promise<unknown> = Promise.resolve();
  const states = new StoredSessionStates({
    store: {
      find: (id) => {
        found.push(id);
        const row = rows.get(id);
        return reading.then(() => row);
      },
      change: (session, change) => {
        const state = change(rows.get(session.id)?.state ?? "");
        rows.set(session.id, { ...session, state });
        return Promise.resolve();
      },
    },
    clock: () => 0,
    watch: (onChange) => {
      onForeign = onChange;
      return () => undefined;
    },
  });
  return {
    states,
    rows,
    found,
    change: (session: string) => onForeign(session),
    read: (until: Promise<unknown>) => (reading = until),
  };
}

const resourcesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ door: "lib", uri: `lib://${index}/${"x".repeat(2_000)}` }));

test("the state of a session has a bound, and stays as it was beyond that", async () => {
  const { states } = scene();
  await states.change("s1", "token1", (state) => ({ ...state, resources: resourcesOf(7) }));
  const tooLong = states.change("s1", "token1", (state) => ({ ...state, resources: resourcesOf(9) }));
  expect(await tooLong.catch((reason: unknown) => reason)).toMatchObject({ code: -32_602 });
  expect((await states.of("s1")).resources).toHaveLength(7);
});

test("of the changes of other nodes, those of sessions that are known or watched here are read", async () => {
  const { states, found, change } = scene();
  change("foreign");
  expect(found).toEqual([]);
  await states.of("known");
  change("known");
  const stop = states.watch("watched", () => undefined);
  change("watched");
  stop();
  await Promise.resolve();
  expect(found).toEqual(["known", "known", "watched"]);
});

test("the end of a session that was read in the same moment is not missed", async () => {
  const { states, rows, change, read } = scene();
  const ends: string[] = [];
  states.onEnd((session) => ends.push(session));
  const { promise, resolve } = Promise.withResolvers<undefined>();
  void read(promise);
  const before = states.of("s1");
  rows.set("s1", { id: "s1", owner: "token1", state: ENDED_STATE, changedAt: 0 });
  change("s1");
  resolve(undefined);
  expect((await before).isEnded).toBe(false);
  await Promise.resolve();
  expect([(await states.of("s1")).isEnded, ends]).toEqual([true, ["s1"]]);
});
