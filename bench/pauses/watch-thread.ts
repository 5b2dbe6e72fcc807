/**
 * Loaded before a gateway: notes how long its main thread computes at a stretch, which is the time that a call waits. It is the
 * thread's own CPU time between two ticks of a timer, so that other work on the machine does not count.
 */
import { appendFileSync, openSync, readSync } from "node:fs";
import { noteMs, pausesFileVariable } from "./notes.ts";

const tickMs = 1;
const nanosecondsAMillisecond = 1e6;
const bufferBytes = 64;

function watch(file: string): void {
  const statistics = openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  const buffer = Buffer.alloc(bufferBytes);
  const computed = (): number => {
    readSync(statistics, buffer, 0, bufferBytes, 0);
    return Number(buffer.toString("latin1", 0, buffer.indexOf(" ")));
  };
  let before = computed();
  let longest = 0;
  const tick = (): void => {
    const now = computed();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const note = (): void => {
    appendFileSync(file, `${Date.now()} ${longest / nanosecondsAMillisecond}\n`);
    longest = 0;
    before = computed();
  };
  setInterval(tick, tickMs).unref();
  setInterval(note, noteMs).unref();
}

const { [pausesFileVariable]: file } = process.env;
if (file !== undefined && Bun.isMainThread && process.argv.includes("serve")) watch(file);
