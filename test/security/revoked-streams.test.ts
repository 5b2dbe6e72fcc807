/** When a token is revoked or expires, each open stream of the token ends, on every node; an answer that is not streamed is completed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Gateway,
  gatedBody,
  type GatedUpstream,
  type PostgresServer,
  startGatedUpstream,
  startGateway,
  startPostgres,
  until,
} from "../kit/index.ts";
import { Client } from "../realtime/realtime-scene.ts";

/** How long a stream may go on after its token has ended. */
const END_MS_MAX = 5_000;

const folder = mkdtempSync(join(tmpdir(), "tollgate-revoked-"));
let server: PostgresServer;
let upstream: GatedUpstream;
beforeAll(async () => {
  server = await startPostgres();
  upstream = startGatedUpstream();
});
afterAll(async () => {
  await upstream.stop();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const textBody = (model: string): object => ({ model: `openai/${model}`, input: "hi", stream: true });
const dialects: [string, string, (model: string) => object, RegExp][] = [
  ["chat", "/v1/chat/completions", (model) => gatedBody(model, { stream: true }), /"code":"token_revoked"/],
  [
    "messages",
    "/v1/messages",
    (model) => gatedBody(model, { stream: true, max_tokens: 100 }),
    /^event: error\ndata: .*revoked/m,
  ],
  ["responses", "/v1/responses", textBody, /"code":"token_revoked"/],
];

describe.each<[string, () => Promise<string>]>([
  ["sqlite", () => Promise.resolve(`sqlite:${join(folder, "shared.db")}`)],
  ["postgres", () => server.createDatabase()],
])("the nodes of one storage: %s", (engine, createStorage) => {
  let first: Gateway;
  let second: Gateway;
  beforeAll(async () => {
    const storage = await createStorage();
    const providers = { openai: { kind: "openai-compatible", base_url: upstream.url, api_key: "k" } };
    const options = { providers, storage };
    first = await startGateway(options);
    // One process serves a file of SQLite; what revokes is another one on both.
    second = engine === "postgres" ? await startGateway(options) : first;
  });
  afterAll(async () => {
    await first.stop();
    if (second !== first) await second.stop();
  });

  const post = (node: Gateway, token: string, path: string, body: object, headers = {}): Promise<Response> =>
    fetch(node.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  async function revoke(token: string): Promise<void> {
    const { code, stderr } = await first.cli("token", "revoke", token.slice(3, 15));
    expect([code, stderr]).toEqual([0, ""]);
  }

  test.each(dialects)(
    "streams of %s end with the error of their dialect, and what was said is charged",
    async (...row) => {
      const [name, path, bodyOf, error] = row;
      const [leaver, stayer] = [await first.token({ user: `leaver-${name}` }), await first.token()];
      const model = `held-${engine}-${name}`;
      const asked = [first, second, second].map((node, index) =>
        post(node, leaver, path, bodyOf(model), index === 2 ? { "idempotency-key": `k-${model}` } : {}),
      );
      const streams = await Promise.all(asked);
      const other = await post(second, stayer, path, bodyOf(`${model}-stays`));
      const readers = streams.map((stream) => stream.text());
      const stays = other.text();
      await until("the upstream has all", () => upstream.received(model).length === 3);
      await revoke(leaver);
      const from = performance.now();
      const texts = await Promise.all(readers);
      expect(performance.now() - from).toBeLessThan(END_MS_MAX);
      for (const text of texts) {
        expect(text).toContain("hello");
        // Responses end with the error and the failed response.
        expect(text.trimEnd().split("\n\n").slice(-2).join("\n\n")).toMatch(error);
        expect(text).not.toContain("[DONE]");
      }
      await until("the upstream was left", () => upstream.left(model) === 3);
      const owner = await first.token({ user: `leaver-${name}` });
      for (const stream of streams) {
        const id = stream.headers.get("x-request-id") ?? "";
        const answered = await fetch(`${second.url}/v1/generations/${id}`, {
          headers: { authorization: `Bearer ${owner}` },
        });
        const { outcome, credits } = (await answered.json()) as { outcome: string; credits: number };
        expect([outcome, credits > 0]).toEqual(["interrupted", true]);
      }
      upstream.release(`${model}-stays`);
      expect(await stays).toContain(" there");
    },
  );

  test("a stream ends when its token expires, and a whole answer under way does not", async () => {
    const guest = await first.token({ expiresInMs: 3_000 });
    const model = `held-${engine}-expires`;
    const stream = await post(second, guest, "/v1/chat/completions", gatedBody(model, { stream: true }));
    const whole = post(second, guest, "/v1/chat/completions", gatedBody(model));
    expect(await stream.text()).toContain(`"code":"token_expired"`);
    await until("the upstream was left", () => upstream.left(model) === 1);
    upstream.release(model);
    const answered = await whole;
    expect(answered.status).toBe(200);
    expect(await answered.text()).toContain("hello there");
  });

  test("streams end when their user is disabled, or their token paused; a renamed user's go on", async () => {
    const disabled = await first.token({ user: `disabled-${engine}` });
    const paused = await first.token({ user: `paused-${engine}` });
    const renamed = await first.token({ user: `renamed-${engine}` });
    const model = `held-${engine}-disabled`;
    const [ofDisabled, ofPaused, ofRenamed] = await Promise.all(
      [disabled, paused, renamed].map((token) =>
        post(second, token, "/v1/chat/completions", gatedBody(model, { stream: true })),
      ),
    );
    await first.cli("user", "rename", `renamed-${engine}`, `new-${engine}`);
    await first.cli("user", "disable", `disabled-${engine}`);
    await first.cli("token", "pause", paused.slice(3, 15));
    expect(await ofDisabled?.text()).toContain(`"code":"user_disabled"`);
    expect(await ofPaused?.text()).toContain(`"code":"token_paused"`);
    await until("the upstream was left by two", () => upstream.left(model) === 2);
    upstream.release(model);
    expect(await ofRenamed?.text()).toContain("[DONE]");
    const info = await fetch(`${second.url}/v1/user/info`, { headers: { authorization: `Bearer ${renamed}` } });
    expect(await info.json()).toMatchObject({ user: `new-${engine}`, user_id: `renamed-${engine}` });
  });

  test("a stream whose answer has not begun is refused, and its upstream left", async () => {
    const leaver = await first.token();
    const model = `held-${engine}-late`;
    const asked = post(second, leaver, "/v1/chat/completions", gatedBody(model, { stream: true }));
    await until("the upstream has it", () => upstream.received(model).length === 1);
    await revoke(leaver);
    const refused = await asked;
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: "token_revoked" } }]);
    upstream.release(model);
  });

  test("the WebSocket of Responses ends its turn with the error, and closes with 1008; so does an idle one", async () => {
    const leaver = await second.token();
    const headers = { authorization: `Bearer ${leaver}` };
    const url = `${second.url.replace("http", "ws")}/v1/responses`;
    const [busy, idle] = [new Client(url, { headers }), new Client(url, { headers })];
    await Promise.all([busy.opened, idle.opened]);
    const model = `held-${engine}-turn`;
    busy.send({ type: "response.create", model: `openai/${model}`, input: "hi" });
    await busy.find("text", ({ type }) => type === "response.output_text.delta");
    await revoke(leaver);
    for (const client of [busy, idle]) {
      expect(await client.ended()).toMatchObject({ code: 1008, reason: "token_revoked" });
      expect(JSON.stringify(client.events.slice(-2))).toContain(`"token_revoked"`);
    }
    await until("the upstream was left", () => upstream.left(model) === 1);
  });
});
