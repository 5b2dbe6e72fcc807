import { z } from "zod";
import { parseBody } from "../../../bodies/index.ts";
import { MemoryBudget } from "../../../streaming/index.ts";
import type { WorkScene } from "../../__fixtures__/work-scene.ts";
import type { Work } from "../../work.ts";
import { RunningWork } from "../running-work.ts";
import { CallWatchdog } from "../watchdog.ts";

const way = {
  surface: "openai",
  plan: () => {
    throw new Error("this work runs already");
  },
} as const;

/** Opened work as its run gets it, with a client that stays. */
export function runningOn({ ticker }: Pick<WorkScene, "ticker">, work: Work, onEnd: () => void): RunningWork {
  const client = { signal: new AbortController().signal };
  const memory = new MemoryBudget(0).share();
  const parts = {
    work,
    watchdog: new CallWatchdog({ ticker, abort: new AbortController(), client, clientGoneGraceMs: 0 }),
    received: parseBody(Buffer.from("{}"), z.looseObject({}), []),
    bodyMemory: memory,
    memory,
    onEnd,
  };
  return new RunningWork(way, { client }, parts);
}
