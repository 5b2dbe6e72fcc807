/** The part between the gateway and the providers changes nothing. */
import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRecorder } from "./recorder.ts";

test("bytes that are no text pass unchanged in both directions, and are not written", async () => {
  using upstream = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => new Response(await request.bytes(), { status: 201, headers: { "x-kept": "yes" } }),
  });
  const folder = mkdtempSync(join(tmpdir(), "tollgate-recorder-"));
  const upstreams = new Map([["xai", { baseUrl: upstream.url.origin, name: "xai" }]]);
  const recorder = startRecorder({ upstreams, folder, secrets: [], day: "2026-11-25" });
  try {
    const body = Uint8Array.from({ length: 1024 }, (_, place) => place % 256);
    const answer = await fetch(`${recorder.urlOf("xai")}/stt?language=en`, { method: "POST", body });
    expect([answer.status, answer.headers.get("x-kept")]).toEqual([201, "yes"]);
    expect(await answer.bytes()).toEqual(body);
    expect([recorder.written, existsSync(join(folder, "index.jsonl"))]).toEqual([0, false]);
  } finally {
    await recorder.stop();
    rmSync(folder, { recursive: true });
  }
});
