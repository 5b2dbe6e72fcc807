import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { WorkScene } from "../charges/__fixtures__/work-scene.ts";
import type { RunningPart } from "../http/index.ts";
import { drain } from "./drain.ts";

let scene: WorkScene;
let log: string[];
beforeEach(async () => {
  scene = await WorkScene.start();
  jest.useRealTimers();
  log = [];
});
afterEach(() => scene.stop());

/** A part with two works: one ends by itself when it is closed, the other one when it is aborted. */
class TwoWorks implements RunningPart {
  active = 2;

  close(): void {
    log.push(`closed with ${this.active}`);
    this.active = 1;
  }

  abortAll(): void {
    log.push(`aborted with ${this.active}`);
    this.active = 0;
  }

  stop(): void {
    log.push(`stopped with ${this.active}`);
  }
}

const logger = {
  info: () => undefined,
  warn: () => undefined,
  error: (fields: object) => void log.push(JSON.stringify(fields)),
  flush: () => undefined,
};

function drainOf(parts: readonly RunningPart[], drainMsMax: number): Promise<number> {
  const { ledger, journal } = scene;
  return drain({ parts, drainMsMax, ledger, journal, unsettled: scene.deps.unsettled, logger });
}

test("parts are closed, awaited, aborted at the bound, and stopped", async () => {
  expect(await drainOf([new TwoWorks()], 50)).toBe(0);
  expect(log).toEqual(["closed with 2", "aborted with 1", "stopped with 0"]);
});

test("a part that fails to stop keeps no other from it, nor the ledger from its commits", async () => {
  const work = await scene.open();
  const ending = work.end({ status: 502, outcome: "failed" });
  await drainOf([{ stop: () => Promise.reject(new Error("stuck")) }, { stop: () => void log.push("stopped") }], 50);
  expect(log).toEqual(["stopped", `{"reason":"Error: stuck"}`]);
  expect((await ending).isDurable).toBe(true);
});
