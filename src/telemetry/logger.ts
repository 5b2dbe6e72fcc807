import { writeSync } from "node:fs";
import pino from "pino";

/** Writes one JSON line an event: fields first, then what happened. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Writes what has been gathered. */
  flush(): void;
}

/** Fields whose values are secrets, should a line ever carry one. */
const SECRET_FIELDS = ["authorization", "api_key", "token", "secret", "cookie"];

const CENSORED = "[redacted]";

/** Log lines gather up to this many characters before they are written: one system call for dozens of requests. */
const BUFFER_CHARACTERS = 16_384;

/** How long a gathered line may wait. */
const FLUSH_MS = 250;

/** Characters that may wait for a slow reader before lines are lost. */
const WAITING_CHARACTERS_MAX = 4 * 1024 * 1024;

export interface LoggerOptions {
  level: string;
  /** Where lines go; standard error by default, since standard output carries what a command prints. */
  fd?: number;
}

/**
 * The log. Nothing that a caller or an upstream said goes there, only about it. Warnings and errors, whose causes need
 * serializers and redaction, are written by pino; the one `info` line of every call is a plain `JSON.stringify` in the
 * same shape, at a quarter of the cost.
 */
export function createLogger({ level, fd = 2 }: LoggerOptions): Logger {
  const writer = gatheringWriter(fd);
  const redact = { paths: SECRET_FIELDS, censor: CENSORED };
  const log = pino({ level, base: null, redact, timestamp: pino.stdTimeFunctions.isoTime }, writer);
  const informs = log.isLevelEnabled("info");
  return {
    info(fields, msg) {
      if (!informs) return;
      const line = JSON.stringify(withoutSecrets(fields)).slice(1, -1);
      const gap = line === "" ? "" : ",";
      writer.write(`{"level":${INFO},"time":"${isoTime()}",${line}${gap}"msg":${JSON.stringify(msg)}}\n`);
    },
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => writer.flushSync(),
  };
}

let writtenFor = Number.NaN;
let written = "";

/** The time as ISO 8601, written once a millisecond. */
function isoTime(): string {
  const now = new Date();
  if (now.getTime() !== writtenFor) {
    writtenFor = now.getTime();
    written = now.toISOString();
  }
  return written;
}

function withoutSecrets(fields: object): object {
  if (!SECRET_FIELDS.some((name) => name in fields)) return fields;
  const censored = SECRET_FIELDS.filter((name) => name in fields).map((name): [string, string] => [name, CENSORED]);
  return Object.assign({}, fields, Object.fromEntries(censored));
}

/** pino's number for the level. */
const INFO = 30;

/** pino's own buffered destination calls fsync at each timed flush; a log needs none. */
function gatheringWriter(fd: number): { write: (line: string) => void; flushSync: () => void } {
  let gathered = "";
  const flushSync = (): void => {
    let bytes: Uint8Array = Buffer.from(gathered);
    gathered = "";
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(fd, bytes));
    } catch (reason) {
      // A reader that is slow for a moment gets the lines later; one that is gone or hangs must not stop the gateway.
      const rest = Buffer.from(bytes).toString("utf8");
      if (isBusy(reason) && rest.length < WAITING_CHARACTERS_MAX) gathered = rest + gathered;
    }
  };
  setInterval(flushSync, FLUSH_MS).unref();
  process.once("exit", flushSync);
  return {
    write(line) {
      gathered += line;
      if (gathered.length > BUFFER_CHARACTERS) flushSync();
    },
    flushSync,
  };
}

function isBusy(reason: unknown): boolean {
  return reason instanceof Error && "code" in reason && reason.code === "EAGAIN";
}
