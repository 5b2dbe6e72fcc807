import type { Caller } from "./caller.ts";
import { callersOf, runFor, RunLog } from "./closed-loop.ts";
import type { TurnSide, TurnsJob, TurnsResult } from "./protocol.ts";

interface Side {
  log: RunLog;
  callers: Caller[];
}

/** Puts one side after the other under load; see `TurnsJob`. */
export async function runTurns(job: TurnsJob): Promise<TurnsResult[]> {
  const sides = job.sides.map(sideOf);
  const callers = sides.flatMap((side) => side.callers);
  await Promise.all(callers.map((caller) => caller.connect()));
  for (let turn = 0; turn < job.turns; turn += 1) {
    const inOrder = (job.first + turn) % 2 === 0 ? sides : sides.toReversed();
    for (const side of inOrder) await runFor(side.callers, side.log, job.turnSeconds);
  }
  callers.forEach((caller) => caller.hangUp());
  return sides.map(({ log }) => ({ completed: log.completedCount, problems: log.problems }));
}

function sideOf({ port, group }: TurnSide): Side {
  const log = new RunLog();
  return { log, callers: callersOf(port, group, log) };
}
