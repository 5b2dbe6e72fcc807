/**
 * Stands between a gateway and its providers, and writes what passes into a folder, in the format of test/recordings: bodies
 * alone, without secrets. Headers are passed on and never written.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseObject } from "../../src/core/index.ts";
import { createRedactor } from "./redact.ts";

/** A longer body is passed on and not written. */
const RECORDED_BYTES_MAX = 4 * 1024 * 1024;

/** Recordings of a live run begin here, so that their ids differ from those of public sources. */
const FIRST_ID = 10_001;

/** An upstream that is recorded. */
interface RecordedUpstream {
  /** The address of the real one. */
  baseUrl: string;
  /** The provider's kind, or the preset of a compatible one. */
  name: string;
}

export interface RecorderOptions {
  /** By prefix. */
  upstreams: ReadonlyMap<string, RecordedUpstream>;
  folder: string;
  secrets: readonly string[];
  /** The day of the run, as 2026-11-25. */
  day: string;
}

export interface Recorder {
  /** The address that a gateway uses for an upstream. */
  urlOf(prefix: string): string;
  /** The current call, for the recordings' `path`. */
  label: string;
  /** How many answers were written. */
  readonly written: number;
  /** The reasons why an answer was not written. */
  readonly skipped: readonly string[];
  stop(): Promise<void>;
}

const dialects: readonly (readonly [RegExp, string])[] = [
  [/\/chat\/completions$/, "chat"],
  [/\/messages$/, "messages"],
  [/\/responses$/, "responses"],
];

/** Headers of one connection, which are not passed on. */
const connectionHeaders = ["host", "connection", "content-length", "transfer-encoding", "keep-alive"];

/** One exchange that has passed. */
interface Passed {
  upstream: RecordedUpstream;
  dialect: string;
  request: string;
  status: number;
  contentType: string;
  answer: string;
}

export function startRecorder({ upstreams, folder, secrets, day }: RecorderOptions): Recorder {
  const redact = createRedactor(secrets);
  const skipped: string[] = [];
  let written = 0;
  const write = (label: string, passed: Passed): void => {
    try {
      writeRecording(folder, passed, { redact, source: `${day}/${label}` });
      written += 1;
    } catch (reason) {
      skipped.push(String(reason));
    }
  };
  const pending = new Set<Promise<void>>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const [, prefix = ""] = pathname.split("/");
      const upstream = upstreams.get(prefix);
      if (upstream === undefined) return new Response(null, { status: 404 });
      const path = pathname.slice(prefix.length + 1);
      // Also a form with a file in it, whose bytes are no text.
      const body = request.method === "GET" ? undefined : await request.bytes();
      const reply = await fetch(upstream.baseUrl + path + search, {
        method: request.method,
        headers: passedHeaders(request.headers),
        ...(body === undefined ? {} : { body }),
        redirect: "manual",
        signal: request.signal,
      });
      const dialect = dialects.find(([pattern]) => pattern.test(path))?.[1];
      if (dialect === undefined || body === undefined || reply.body === null) return relayed(reply, reply.body);
      const [forClient, forFile] = reply.body.tee();
      const { label } = recorder;
      const record = async (): Promise<void> => {
        const answer = await readText(forFile);
        const contentType = reply.headers.get("content-type") ?? "application/json";
        if (answer === undefined) skipped.push(`${label}: the answer broke off or is too long`);
        else write(label, { upstream, dialect, request: textOf(body), status: reply.status, contentType, answer });
      };
      const reading = record();
      pending.add(reading);
      void reading.finally(() => pending.delete(reading));
      return relayed(reply, forClient);
    },
  });
  const recorder: Recorder = {
    urlOf: (prefix) => `${server.url.origin}/${prefix}`,
    label: "",
    get written() {
      return written;
    },
    skipped,
    async stop() {
      await Promise.all(pending);
      await server.stop(true);
    },
  };
  return recorder;
}

function passedHeaders(all: Headers): Headers {
  const headers = new Headers(all);
  for (const name of connectionHeaders) headers.delete(name);
  return headers;
}

function relayed({ status, headers: all }: Response, body: ReadableStream<Uint8Array> | null): Response {
  const headers = passedHeaders(all);
  // The bytes have been decoded on their way.
  headers.delete("content-encoding");
  return new Response(body, { status, headers });
}

/** Undefined if it breaks off or exceeds the bound. */
async function readText(stream: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes <= RECORDED_BYTES_MAX) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return bytes > RECORDED_BYTES_MAX ? undefined : textOf(Buffer.concat(chunks));
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

interface Writing {
  redact: (text: string) => string;
  source: string;
}

function writeRecording(folder: string, passed: Passed, { redact, source }: Writing): void {
  const { upstream, dialect, request, status, contentType, answer } = passed;
  const body = parseObject(redact(request));
  if (body === undefined) throw new Error("the request is no JSON object");
  const stream = contentType.includes("text/event-stream");
  const text = redact(answer);
  const origin = { from: "tollgate test:live", path: source, license: "MIT" };
  const host = new URL(upstream.baseUrl).hostname;
  mkdirSync(join(folder, "answers"), { recursive: true });
  const id = nextId(folder);
  const file = `answers/${id}.${stream ? "sse" : "json"}`;
  const { model = null } = body;
  const described = { upstream: upstream.name, host, dialect, stream, status, contentType: typeOf(contentType), model };
  writeFileSync(join(folder, file), text);
  appendLine(join(folder, "index.jsonl"), { id, file, ...described, ...origin });
  appendLine(join(folder, "requests.jsonl"), { dialect, host, ...origin, body });
}

function typeOf(contentType: string): string {
  return contentType.split(";")[0] ?? contentType;
}

function nextId(folder: string): number {
  const index = join(folder, "index.jsonl");
  if (!existsSync(index)) return FIRST_ID;
  const ids = readFileSync(index, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { id: number }).id);
  return Math.max(FIRST_ID - 1, ...ids) + 1;
}

function appendLine(file: string, row: object): void {
  appendFileSync(file, `${JSON.stringify(row)}\n`);
}
