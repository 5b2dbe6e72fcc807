import pino from "pino";
import { LineBuffer } from "./line-buffer.ts";
import { TextLines } from "./text-lines.ts";

/** Writes one JSON line per event: fields first, then the message. */
export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Writes the buffered lines. */
  flush(): void;
}

/** The log of a server, whose level may change. */
export interface ServerLogger extends Logger {
  setLevel(level: string): void;
}

/** Fields whose values are secrets, in case a line ever contains one. */
const SECRET_FIELDS = ["authorization", "api_key", "token", "secret", "cookie"];

const CENSORED = "[redacted]";

/** Members of errors that are facts. Others contain addresses with their queries, rows of tables, or what an upstream has written. */
const ERROR_FIELDS: ReadonlySet<string> = new Set([
  "code",
  "errno",
  "syscall",
  "status",
  "constraint",
  "table",
  "column",
]);

/** The longest delay of a buffered line. */
const FLUSH_MS = 250;

export interface LoggerOptions {
  level: string;
  /** JSON by default. */
  format?: "json" | "text";
  /** The destination; standard error by default, because standard output carries a command's output. */
  fd?: number;
}

/**
 * The log. It never contains text of a caller or an upstream, only facts about it. Warnings and errors, whose causes
 * need serializers and redaction, are written by pino; the one `info` line of every call is a plain `JSON.stringify` in
 * the same format, at a quarter of the cost.
 */
export function createLogger({ level, format = "json", fd = 2 }: LoggerOptions): ServerLogger {
  const buffer = new LineBuffer(fd);
  const lines = format === "json" ? buffer : new TextLines(buffer);
  const redact = { paths: SECRET_FIELDS, censor: CENSORED };
  const serializers = { err: errorFields };
  const log = pino({ level, base: null, redact, serializers, timestamp: pino.stdTimeFunctions.isoTime }, lines);
  let informs = log.isLevelEnabled("info");
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
    setLevel(next) {
      log.level = next;
      informs = log.isLevelEnabled("info");
    },
  };
}

function errorFields(err: unknown): unknown {
  if (!(err instanceof Error)) return err;
  const { type, message, stack } = pino.stdSerializers.err(err);
  const facts = Object.entries(err).filter(([name]) => ERROR_FIELDS.has(name));
  const several: unknown[] = err instanceof AggregateError ? err.errors : [];
  return {
    type,
    message,
    stack,
    ...Object.fromEntries(facts),
    ...(several.length > 0 && { aggregateErrors: several.map(errorFields) }),
  };
}

/** pino's number for the level. */
const INFO = 30;

let begunAt = Number.NaN;
let begun = "";

/** The beginning of a line, up to its time; created once per millisecond. */
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

/** The end of a line, from its message on; usually the same as before. */
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
