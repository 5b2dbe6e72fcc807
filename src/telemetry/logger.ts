import pino from "pino";
import { LineBuffer } from "./line-buffer.ts";

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

/** How long a gathered line may wait. */
const FLUSH_MS = 250;

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
  const lines = new LineBuffer(fd);
  const redact = { paths: SECRET_FIELDS, censor: CENSORED };
  const log = pino({ level, base: null, redact, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  const informs = log.isLevelEnabled("info");
  setInterval(() => lines.flush(), FLUSH_MS).unref();
  process.once("exit", () => lines.flush());
  return {
    info(fields, message) {
      if (!informs) return;
      lines.writeObject(beginning(), JSON.stringify(withoutSecrets(fields)), endingOf(message));
    },
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => lines.flush(),
  };
}

/** pino's number for the level. */
const INFO = 30;

let begunAt = Number.NaN;
let begun = "";

/** What a line begins with, up to its time; written once a millisecond. */
function beginning(): string {
  const now = new Date();
  if (now.getTime() !== begunAt) {
    begunAt = now.getTime();
    begun = `{"level":${INFO},"time":"${now.toISOString()}"`;
  }
  return begun;
}

let endedWith = "";
let ended = "";

/** What a line ends with, from its message on; mostly it is the same as before. */
function endingOf(message: string): string {
  if (message !== endedWith || ended === "") {
    endedWith = message;
    ended = `,"msg":${JSON.stringify(message)}}\n`;
  }
  return ended;
}

function withoutSecrets(fields: object): object {
  for (const name of SECRET_FIELDS) if (name in fields) return censored(fields);
  return fields;
}

function censored(fields: object): object {
  const secrets = SECRET_FIELDS.filter((name) => name in fields).map((name): [string, string] => [name, CENSORED]);
  return Object.assign({}, fields, Object.fromEntries(secrets));
}
