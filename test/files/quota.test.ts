/** A user's quota of files, on both storages. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  engines,
  expectRefusal,
  type Rig,
  type ScriptedUpstream,
  sharedPostgres,
  startRig,
  startScriptedUpstream,
  storageOn,
} from "../kit/index.ts";
import { type FilesClient, newFilesClient } from "./files-client.ts";

const postgres = sharedPostgres();
const quotaRefusal = { status: 403, code: "file_quota_exceeded", message: "3 files and 1024 bytes" };

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let upstream: ScriptedUpstream;
  let alice: FilesClient;

  beforeAll(async () => {
    upstream = startScriptedUpstream();
    rig = await startRig({
      ...(await storageOn(engine, postgres)),
      providers: () => ({ up: { kind: "openai", base_url: upstream.url, api_key: "sk-up" } }),
      config: {
        files: { per_user_max: 3, bytes_per_user_max: "1KiB", upload_limit: "4KiB", upload_timeout: "500ms" },
        upstream: { retries: 0 },
      },
    });
  });
  beforeEach(async () => {
    alice = await newFilesClient(rig, { user: `alice-${crypto.randomUUID()}` });
  });
  afterAll(async () => {
    await rig.stop();
    await upstream.stop();
  });

  async function expectFull(content = "x"): Promise<void> {
    const answer = await alice.upload("openai", content);
    expectRefusal(answer, answer.text, quotaRefusal);
  }

  test("an upload without credits is 402 before the provider is asked; a service's token needs none", async () => {
    const poor = await newFilesClient(rig, { credits: 0n });
    const seen = upstream.requests.length;
    const refused = await poor.upload("openai");
    const [code, message] = ["insufficient_credits", "none are left"];
    expectRefusal(refused, refused.text, { status: 402, code, type: code, message });
    expect(upstream.requests).toHaveLength(seen);
    expect((await poor.ask("openai/files")).status).toBe(200);
    await (await newFilesClient(rig, { credits: 0n, service: true })).uploaded("openai");
    await rig.expectBalancedBooks();
  });

  test("free requests count against the token's requests a minute", async () => {
    const limited = await newFilesClient(rig, { rpm: 3 });
    const count = { method: "POST", body: JSON.stringify({ model: "up/gpt-4o-mini", messages: [] }) };
    await limited.uploaded("openai");
    expect((await limited.ask("openai/files")).status).toBe(200);
    expect((await limited.ask("messages/count_tokens", count)).status).not.toBe(429);
    const answers = await Promise.all([
      limited.upload("openai"),
      limited.ask("openai/files"),
      limited.ask("messages/count_tokens", count),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(429);
      expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
    }
    expect(answers[0].code).toBe("rate_limit_exceeded");
    await rig.expectBalancedBooks();
  });

  test("counts files at all providers, and is freed by deleting", async () => {
    const ids = [await alice.uploaded("openai"), await alice.uploaded("openai"), await alice.uploaded("byteplus")];
    await expectFull();
    expect((await alice.ask(`openai/files/${ids[0]}`, { method: "DELETE" })).status).toBe(200);
    await alice.uploaded("openai");
    await expectFull();
    await (await newFilesClient(rig)).uploaded("openai");
  });

  test("counts bytes", async () => {
    await alice.uploaded("openai", "x".repeat(1_000));
    await expectFull("x".repeat(25));
    await alice.uploaded("openai", "x".repeat(24));
    await expectFull();
  });

  test("has one last place, however many uploads want it", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => alice.upload("openai")));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 200, 200, 403, 403, 403, 403, 403,
    ]);
    expect((await alice.ask("files")).json["data"]).toHaveLength(3);
  });

  test("is not taken by uploads that fail", async () => {
    upstream.answerWith(() => new Response("no", { status: 500 }));
    for (let times = 0; times < 4; times += 1) expect((await alice.upload("up")).status).toBe(500);
    for (let times = 0; times < 4; times += 1) {
      expect((await alice.upload("openai", "x", { purpose: "nonsense" })).status).toBe(400);
    }
    for (let times = 0; times < 3; times += 1) await alice.uploaded("openai");
    await expectFull();
  });

  test("is freed by the expiry that the upstream tells, and by one in the past not", async () => {
    const at = (seconds: number) => ({ object: "file", expires_at: seconds });
    let uploads = 0;
    const soon = Math.floor(Date.now() / 1_000) + 2;
    upstream.answerWith(() => {
      uploads += 1;
      return Response.json({ id: `file-${uploads}-${alice.user}`, ...at(uploads === 1 ? soon : 1) });
    });
    for (let times = 0; times < 3; times += 1) expect((await alice.upload("up")).status).toBe(200);
    await expectFull();
    await Bun.sleep(soon * 1_000 - Date.now() + 5);
    expect((await alice.ask(`up/files/file-1-${alice.user}`)).status).toBe(404);
    await alice.uploaded("openai");
    await expectFull();
  });

  test("is beside the limit of one upload", async () => {
    const answer = await alice.upload("openai", "x".repeat(5_000));
    expectRefusal(answer, answer.text, { status: 413, code: "body_too_large", message: "4096" });
  });
});
