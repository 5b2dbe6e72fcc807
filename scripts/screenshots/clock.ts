/**
 * Loaded before a gateway: moves its clock by the milliseconds that a file contains, so that weeks of calls can be made in a
 * minute. The file is `TOLLGATE_CLOCK_FILE`.
 */
import { readFileSync } from "node:fs";

const file = process.env["TOLLGATE_CLOCK_FILE"] ?? "";
const now = Date.now;
const RealDate = Date;
let offset = 0;

function read(): void {
  try {
    offset = Number(readFileSync(file, "utf8"));
  } catch {
    // It is being written.
  }
}

read();
setInterval(read, 5).unref();

class MovedDate extends RealDate {
  constructor(...parts: [] | [number | string | Date]) {
    super(...((parts.length === 0 ? [now() + offset] : parts) as [number]));
  }
  static override now(): number {
    return now() + offset;
  }
}
globalThis.Date = MovedDate as DateConstructor;
