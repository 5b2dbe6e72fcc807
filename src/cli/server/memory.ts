import { totalmem } from "node:os";
import process from "node:process";

/** The share of the memory that large bodies and answers may take by default. */
const SHARE = 4;

/**
 * The default of `server.memory_limit` for one of `processes` processes, in bytes: together they take a quarter of the
 * memory of the machine, or of its control group.
 */
export function defaultMemoryLimit(processes: number): number {
  return Math.floor(Math.min(process.constrainedMemory(), totalmem()) / SHARE / processes);
}
