import { expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import { failed, orderOf, record, refusalOf, settled, WorkScene } from "../__fixtures__/work-scene.ts";
import { guardObservers } from "./guard-observers.ts";
import type { WorkObserver } from "./work-observer.ts";

const fails = (): never => {
  throw new TypeError("a mistake");
};
const failing: WorkObserver = { attempted: fails, refused: fails, ended: fails, committed: fails };

test("an observer that throws breaks nothing, and its exceptions are reported", async () => {
  const scene = await WorkScene.start();
  const failures: unknown[] = [];
  const observer = guardObservers([failing], (reason) => failures.push(reason));
  const work = await scene.open({}, { observer });
  await work.end(settled({ usage: { input: 10, output: 5 } }));
  const tooMuch = { inputTokens: 2_000, outputTokens: 50, choices: 1 };
  const refusal = await refusalOf(scene.open({ id: "req_2", bound: tooMuch }, { observer }));
  expect(refusal.code).toBe("insufficient_credits");
  await (await scene.open({ id: "req_3" }, { observer })).end(failed);
  expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
  // Ended and committed twice each, refused once.
  expect(failures).toHaveLength(5);
  await scene.stop();
});

test("one that implements only some methods is not called for the others, and hears what another one fails at", () => {
  const heard: string[] = [];
  const only: WorkObserver = { refused: (order) => heard.push(order.id) };
  const observer = guardObservers([{ refused: fails }, only], () => heard.push("failed"));
  const order = orderOf();
  observer.ended?.({ order, record: record(), credits: "0", unbilled: undefined, files: undefined, error: undefined });
  observer.refused?.(order, new GatewayError("ledger_busy", "busy"));
  expect(heard).toEqual(["failed", "req_1"]);
});
