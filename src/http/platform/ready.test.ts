import { expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { readyRoute, sharedCheck } from "./ready.ts";

const unavailable = new GatewayError("storage_unavailable", "The storage can't be reached.");

/** The route on a storage and a clock of the test. */
function scene() {
  const state = { now: 0, checks: 0, storageWorks: true, isDraining: false };
  const check = (): Promise<void> => {
    state.checks += 1;
    return state.storageWorks ? Promise.resolve() : Promise.reject(unavailable);
  };
  const services = {
    checkStorage: sharedCheck(check, () => state.now),
    isDraining: () => state.isDraining,
    clock: () => state.now,
    nodes: { seenSince: () => Promise.resolve([]), ask: () => Promise.resolve(true) },
    authenticate: (): never => {
      throw new GatewayError("invalid_token", "There is no such token.");
    },
  };
  const call = { request: new Request("http://a/health/ready"), requestId: "r", pathParameter: () => "" };
  const ask = async () => readyRoute.handle(call, services);
  return { state, ask };
}

test("answers while the storage does, and asks it once a second at most", async () => {
  const { state, ask } = scene();
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  state.now = 999;
  expect(await (await ask()).json()).toEqual({ status: "ready" });
  expect(state.checks).toBe(1);
  state.now = 1_000;
  await ask();
  expect(state.checks).toBe(2);
});

test("fails while the storage does, and recovers", async () => {
  const { state, ask } = scene();
  state.storageWorks = false;
  expect(ask()).rejects.toBe(unavailable);
  expect(ask()).rejects.toBe(unavailable);
  expect(state.checks).toBe(1);
  state.storageWorks = true;
  state.now = 1_000;
  expect((await ask()).status).toBe(200);
});

test("fails as soon as the server stops", async () => {
  const { state, ask } = scene();
  await ask();
  state.isDraining = true;
  expect(ask()).rejects.toMatchObject({ code: "shutting_down" });
});

test("a clock that is set back does not keep an old result", async () => {
  const { state, ask } = scene();
  state.now = 1_000_000;
  await ask();
  state.now = 0;
  await ask();
  expect(state.checks).toBe(2);
});
