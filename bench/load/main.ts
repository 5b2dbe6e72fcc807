import { sayLine, serveLines } from "../http1/lines.ts";
import { runClosedLoop } from "./closed-loop.ts";
import { finishStreams, openStreams } from "./hold-open.ts";
import { runOpenLoop } from "./open-loop.ts";
import type { LoadJob } from "./protocol.ts";
import { runTurns } from "./turns.ts";
import { runWave } from "./wave.ts";

/** The load generator: a separate process that takes one job after the other and answers each with its figures. */
function work(message: unknown): Promise<unknown> {
  const job = message as LoadJob;
  switch (job.kind) {
    case "closed-loop":
      return runClosedLoop(job);
    case "open-loop":
      return runOpenLoop(job);
    case "hold-open":
      return openStreams(job);
    case "wave":
      return runWave(job);
    case "turns":
      return runTurns(job);
    case "finish":
      return finishStreams();
  }
}

sayLine({ ready: true });
await serveLines(work);
