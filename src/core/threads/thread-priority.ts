import { getPriority, setPriority } from "node:os";
import { backgroundNiceness } from "../limits.ts";

/** Gives this thread the priority of work in the background; one that is lower already stays. */
export function lowerThreadPriority(): void {
  // Linux alone applies it to this thread and not to the whole process.
  if (process.platform === "linux") setPriority(Math.max(getPriority(), backgroundNiceness));
}
