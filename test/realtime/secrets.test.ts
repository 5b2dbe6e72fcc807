/** Client secrets: what they open, for how long, and what they never do. */
import { describe, expect, test } from "bun:test";
import { engines, query, tablesWith, until } from "../kit/index.ts";
import { model, realtimeScene } from "./realtime-scene.ts";

interface Secret {
  value: string;
  expires_at: number;
  session: Record<string, unknown>;
}

const path = "/v1/realtime/client_secrets";

describe.each(engines)("a client secret on %s", (engine) => {
  const scene = realtimeScene(engine);

  async function create(body: object = { session: { type: "realtime", model } }): Promise<Secret> {
    const response = await scene.post(path, body);
    expect(response.status).toBe(200);
    return (await response.json()) as Secret;
  }

  test("has the shape of OpenAI's, and is stored as a hash only", async () => {
    const before = Math.floor(Date.now() / 1_000);
    const body = {
      expires_after: { anchor: "created_at", seconds: 60 },
      session: { model, voice: "marin", modalities: ["audio", "text"] },
    };
    const { value, expires_at: expiresAt, session } = await create(body);
    expect(value).toMatch(/^ek_[0-9a-z]{12}_[\w-]{43}$/);
    expect(expiresAt - before).toBeGreaterThanOrEqual(59);
    expect(expiresAt - before).toBeLessThanOrEqual(61);
    expect(session).toMatchObject({
      type: "realtime",
      object: "realtime.session",
      model: "gpt-realtime",
      output_modalities: ["audio"],
      audio: { output: { voice: "marin" } },
    });
    expect(await tablesWith(scene.gateway.storage, value.slice(-43))).toEqual([]);
    expect(await scene.books()).toEqual({ spent: 0n, held: 0n });
    expect(await scene.generations()).toEqual([]);
  });

  test("opens sessions of its model with its settings, by header and by a browser's subprotocols", async () => {
    const { value } = await create({ session: { model, instructions: "Be brief.", voice: "cedar" } });
    const byHeader = await scene.open({ token: value, query: "" });
    const byProtocol = await scene.open({ protocols: ["realtime", `openai-insecure-api-key.${value}`] });
    expect(byProtocol.socket.protocol).toBe("realtime");
    for (const client of [byHeader, byProtocol]) {
      const updated = await client.event("session.updated");
      expect(updated["session"]).toMatchObject({ instructions: "Be brief.", audio: { output: { voice: "cedar" } } });
      await client.ask("words:2");
    }
    expect(scene.sockets().map(({ path: asked }) => asked)).toEqual([
      "/openai/v1/realtime?model=gpt-realtime",
      "/openai/v1/realtime?model=gpt-realtime",
    ]);
    for (const request of scene.simulators.requests()) expect(JSON.stringify(request.headers)).not.toContain(value);
  });

  test("opens xAI's sessions, whose subprotocol is echoed", async () => {
    const { value } = await create({ session: { model: "xai/grok-voice-latest", voice: "ara" } });
    const protocol = `xai-client-secret.${value}`;
    const client = await scene.open({ query: "", protocols: [protocol] });
    expect(client.socket.protocol).toBe(protocol);
    expect((await client.event("session.updated"))["session"]).toMatchObject({ voice: "ara" });
    expect(scene.sockets()[0]?.path).toBe("/xai/v1/realtime?model=grok-voice-latest");
    const [sent] = scene.sockets()[0]?.messages ?? [];
    expect(JSON.parse(sent ?? "")).toEqual({ type: "session.update", session: { voice: "ara" } });
  });

  test("opens sessions that transcribe, with the model that the secret names", async () => {
    const { value, session } = await create({ session: { type: "transcription", model: "openai/gpt-4o-transcribe" } });
    expect(session).toMatchObject({
      type: "transcription",
      audio: { input: { transcription: { model: "gpt-4o-transcribe" } } },
    });
    const client = await scene.open({ token: value, query: "" });
    await client.event("session.updated");
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    await client.find(
      "the second update",
      () => client.events.filter(({ type }) => type === "session.updated").length === 2,
    );
    client.send({ type: "input_audio_buffer.append", audio: Buffer.alloc(48_000, 1).toString("base64") });
    client.send({ type: "input_audio_buffer.commit" });
    await client.event("conversation.item.input_audio_transcription.completed");
    const error = client.next("error");
    client.send({ type: "session.update", session: { audio: { input: { transcription: { model: "whisper-1" } } } } });
    expect((await error)["error"]).toMatchObject({ code: "validation_failed" });
    client.socket.close();
    // A second: ten tokens of audio, five of text.
    expect(await scene.spent()).toBe(10n * 6_000n + 5n * 10_000n);
  });

  test.each([
    ["another model", "model=openai/gpt-realtime-mini", "validation_failed"],
    ["another kind of session", "intent=transcription", "validation_failed"],
  ])("does not open %s", async (_, asked, code) => {
    const { value } = await create();
    expect(await scene.refusal({ token: value, query: asked })).toMatchObject({ status: 422, code });
  });

  test("may be used again until it expires, and not after; open sessions go on", async () => {
    const { value } = await create();
    const first = await scene.open({ token: value, query: "" });
    await scene.open({ token: value, query: "" });
    await query(scene.gateway.storage, "UPDATE client_secrets SET expires_at = 1");
    expect(await scene.refusal({ token: value, query: "" })).toMatchObject({ status: 401, code: "token_expired" });
    await first.ask("words:2");
  });

  test("opens no other route", async () => {
    const { value } = await create();
    for (const other of ["/v1/models", "/v1/user/info", "/v1/usage"]) {
      expect((await scene.get(other, value)).status).toBe(401);
    }
    expect((await scene.post(path, { session: { model } }, value)).status).toBe(401);
    const chat = await scene.post("/v1/chat/completions", { model: "openai/gpt-4o-mini", messages: [] }, value);
    expect(chat.status).toBe(401);
  });

  test("dies with its token, and so do the sessions that it has opened", async () => {
    const { value } = await create();
    const client = await scene.open({ token: value, query: "" });
    const [token] = await query<{ id: string }>(
      scene.gateway.storage,
      `SELECT id FROM tokens WHERE user_name = '${scene.user}'`,
    );
    await scene.gateway.cli("token", "revoke", token?.id ?? "");
    expect(await client.ended()).toMatchObject({ code: 1008, reason: "token_revoked" });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "token_revoked" });
    expect(await scene.refusal({ token: value, query: "" })).toMatchObject({ status: 401, code: "token_revoked" });
  });

  test.each<[string, unknown, string]>([
    ["no session", {}, "session"],
    ["no model", { session: {} }, "session.model"],
    ["a model without a prefix", { session: { model: "gpt-realtime" } }, "session.model"],
    ["an unrouted model", { session: { model: "nobody/x" } }, "session.model"],
    ["a model of another kind", { session: { model: "openai/gpt-4o-mini" } }, "session.model"],
    ["too short a time", { expires_after: { seconds: 9 }, session: { model } }, "expires_after.seconds"],
    ["too long a time", { expires_after: { seconds: 7_201 }, session: { model } }, "expires_after.seconds"],
    [
      "a tool whose cost nobody reports",
      { session: { model, tools: [{ type: "web_search" }] } },
      "session.tools.0.type",
    ],
    ["a stored prompt", { session: { model, prompt: { id: "pmpt_1" } } }, "session.prompt"],
  ])("is refused for %s", async (_, body, param) => {
    const response = await scene.post(path, body);
    const { error } = (await response.json()) as { error: { code: string; param: string } };
    expect([response.status, error.code, error.param]).toEqual([422, "validation_failed", param]);
  });

  test("is refused if not even a first response could be held", async () => {
    const poor = await scene.caller(0.01);
    const response = await scene.post(path, { session: { model } }, poor.token);
    expect(response.status).toBe(402);
    expect(await scene.books(poor.user)).toEqual({ spent: 0n, held: 0n });
  });

  test("and the token stay out of the log", async () => {
    const { value } = await create();
    const client = await scene.open({ protocols: ["realtime", `openai-insecure-api-key.${value}`] });
    await scene.open({ protocols: ["realtime", `openai-insecure-api-key.${scene.token}`] });
    await client.ask("words:2");
    await scene.refusal({ token: `${value.slice(0, -1)}~`, query: "" });
    await until(
      "the call is logged",
      () => scene.gateway.log().includes("realtime") || scene.gateway.log().includes('"call"'),
    );
    for (const secret of [value, scene.token]) expect(scene.gateway.log()).not.toContain(secret.slice(-30));
  });

  test("cannot have its model changed by its session", async () => {
    const { value } = await create();
    const client = await scene.open({ token: value, query: "" });
    const updates = [
      '{"type":"session.update","event_id":"e1","session":{"type":"realtime","model":"gpt-realtime-mini"}}',
      '{"ty\\u0070e":"session.update","event_id":"e1","session":{"model":"gpt-realtime-mini"}}',
      '{"type":"session.update","type":"response.cancel","event_id":"e1","session":{"model":"gpt-realtime-mini"}}',
      '{"type":"session.update","event_id":"e1","session":{"model":"gpt-realtime-mini","model":"gpt-realtime"}}',
    ];
    for (const update of updates) {
      const error = client.next("error");
      client.send(update);
      expect((await error)["error"]).toMatchObject({ code: "validation_failed", event_id: "e1" });
    }
    const error = client.next("error");
    client.socket.send(Buffer.from(updates[0] ?? ""));
    expect((await error)["error"]).toMatchObject({ code: "validation_failed" });
    client.send({ type: "session.update", session: { type: "realtime", model, instructions: "x" } });
    await client.find(
      "the update with its own model",
      ({ type, session }) => type === "session.updated" && (session as { instructions: string }).instructions === "x",
    );
    const reached = scene.sockets()[0]?.messages ?? [];
    expect(reached.filter((message) => message.includes("mini"))).toEqual([]);
    expect(reached.at(-1)).toContain('"model":"gpt-realtime"');
  });
});
