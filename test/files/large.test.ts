/** Files of 400 MB, which pass through without being in memory, whichever side is slow. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  hasProc,
  newSpoolFolder,
  residentMebibytes,
  type Rig,
  type SpoolFolder,
  startRig,
  until,
} from "../kit/index.ts";
import { type FilesClient, newFilesClient } from "./files-client.ts";

const MIB = 1_048_576;
const sizeMebibytes = 400;
/** Half of a file. What the collector lets pile up is 120 MB at most, for a file of 400 MB and for one of 800. */
const growthMebibytesMax = 200;
const piece = Buffer.alloc(MIB, "0123456789abcdef");
const testMsMax = 60_000;

/** A provider that takes a body as slowly as it is told, and sends a file as fast as it can. */
function startSlowUpstream() {
  const state = { received: 0, sent: 0, isAborted: false, pauseMs: 0 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 2 ** 40,
    async fetch(request) {
      request.signal.addEventListener("abort", () => (state.isAborted = true));
      if (request.method === "GET") return new Response(bytesOf(state), { headers: { "content-type": "text/plain" } });
      for await (const chunk of bytesIn(request)) {
        state.received += chunk.byteLength;
        if (state.pauseMs > 0) await Bun.sleep(state.pauseMs);
      }
      return Response.json({ id: "file-large", object: "file", bytes: state.received });
    },
  });
  return { state, url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function bytesIn({ body }: Request | Response): AsyncIterable<Uint8Array> {
  if (body === null) throw new Error("there is no body");
  return body;
}

function bytesOf(state: { sent: number }): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      if (state.sent === sizeMebibytes * MIB) return controller.close();
      state.sent += MIB;
      controller.enqueue(Buffer.from(piece));
    },
  });
}

/** A form with a file of so many mebibytes, made while it is sent. */
function largeForm(mebibytes: number): RequestInit {
  const boundary = "----large";
  const part = (text: string): Buffer => Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${text}`);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield part('name="purpose"\r\n\r\nfine-tune\r\n');
    yield part('name="file"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n');
    for (let sent = 0; sent < mebibytes; sent += 1) yield await Promise.resolve(piece);
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  return { method: "POST", headers, body: body() };
}

describe.skipIf(!hasProc)("a file of 400 MB", () => {
  let rig: Rig;
  let spool: SpoolFolder;
  let upstream: ReturnType<typeof startSlowUpstream>;
  let alice: FilesClient;

  beforeAll(async () => {
    upstream = startSlowUpstream();
    spool = newSpoolFolder();
    rig = await startRig({
      providers: () => ({ up: { kind: "openai", base_url: upstream.url, api_key: "sk-up" } }),
      config: { server: { body_limit: "1MiB", memory_limit: "32MiB" } },
      variables: { TMPDIR: spool.path },
    });
    alice = await newFilesClient(rig);
    await alice.uploaded("openai");
  });
  afterAll(async () => {
    await rig.stop();
    await upstream.stop();
    spool.remove();
  });

  /** The most that the gateway's memory grows while something happens. */
  async function growthDuring(work: Promise<unknown>): Promise<number> {
    const before = residentMebibytes(rig.gateway.process.pid);
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, residentMebibytes(rig.gateway.process.pid))), 20);
    await work.finally(() => clearInterval(timer));
    return most - before;
  }

  test(
    "is uploaded to a slow upstream",
    async () => {
      upstream.state.pauseMs = 1;
      const uploading = alice.ask("up/files", largeForm(sizeMebibytes));
      expect(await growthDuring(uploading)).toBeLessThan(growthMebibytesMax);
      expect(await uploading).toMatchObject({ status: 200, json: { id: "file-large" } });
      expect(upstream.state.received).toBeGreaterThan(sizeMebibytes * MIB);
      expect([spool.files(), spool.openIn(rig.gateway.process.pid)]).toEqual([[], 0]);
    },
    testMsMax,
  );

  test(
    "is downloaded by a slow client",
    async () => {
      const headers = { authorization: `Bearer ${alice.token}` };
      let read = 0;
      const reading = (async () => {
        const answer = await fetch(`${rig.gateway.url}/v1/up/files/file-large/content`, { headers });
        for await (const chunk of bytesIn(answer)) {
          if (read < MIB) await Bun.sleep(100);
          read += chunk.byteLength;
        }
      })();
      expect(await growthDuring(reading)).toBeLessThan(growthMebibytesMax);
      expect([read, upstream.state.sent]).toEqual([sizeMebibytes * MIB, sizeMebibytes * MIB]);
    },
    testMsMax,
  );

  test(
    "waits at the upstream while its client does not read, and is aborted when the client leaves",
    async () => {
      upstream.state.sent = 0;
      upstream.state.isAborted = false;
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${alice.token}` };
      const { signal } = leaving;
      const answer = await fetch(`${rig.gateway.url}/v1/up/files/file-large/content`, { headers, signal });
      const reader = answer.body?.getReader();
      await reader?.read();
      await Bun.sleep(500);
      expect(upstream.state.sent).toBeLessThan((sizeMebibytes / 2) * MIB);
      leaving.abort();
      await reader?.cancel().catch(() => undefined);
      await until("the upstream is left", () => upstream.state.isAborted);
    },
    testMsMax,
  );
});
