/** Sessions of the realtime WebSocket: what passes, what it costs, and what is refused. */
import { describe, expect, test } from "bun:test";
import { engines, until } from "../kit/index.ts";
import { costOf, model, realtimeScene, usageOf } from "./realtime-scene.ts";

describe.each(engines)("a session on %s", (engine) => {
  const scene = realtimeScene(engine);

  test("answers texts, and each response is charged by its usage as a generation of the session", async () => {
    const client = await scene.open();
    const first = await client.ask("Hello words:20");
    const second = await client.ask("And again words:30");
    const cost = costOf(usageOf(first)) + costOf(usageOf(second));
    expect(usageOf(second).input_token_details.cached_tokens_details["text_tokens"]).toBeGreaterThan(0);
    client.socket.close(1000, "bye");
    expect(await scene.spent()).toBe(cost);
    const generations = await scene.generations();
    expect(generations).toHaveLength(2);
    expect(new Set(generations.map(({ parent }) => parent)).size).toBe(1);
    expect(generations[0]).toMatchObject({ operation: "realtime", outcome: "complete", model: "gpt-realtime" });
    const [upstream] = scene.sockets();
    expect(upstream?.path).toBe("/openai/v1/realtime?model=gpt-realtime");
    const isClosed = (): boolean => scene.sockets()[0]?.closeCode === 1000;
    await until("the upstream's socket is closed", isClosed);
  });

  test("is listed response by response under its id, for its user only", async () => {
    const client = await scene.open();
    const dones = [await client.ask("words:2"), await client.ask("words:3"), await client.ask("words:4")];
    const [parent] = (await scene.generations()).map((each) => each.parent);
    const page = async (query: string, as?: string) => {
      const response = await scene.get(`/v1/generations?parent_id=${parent ?? ""}${query}`, as);
      return (await response.json()) as {
        data: { id: string; credits: number; parent_id: string }[];
        has_more: boolean;
      };
    };
    const all = await page("");
    expect(all.data.map(({ credits }) => credits)).toEqual(dones.map((done) => Number(costOf(usageOf(done))) / 1e9));
    expect([all.has_more, all.data[0]?.parent_id]).toEqual([false, parent ?? ""]);
    const first = await page("&limit=2");
    expect([first.data.length, first.has_more]).toEqual([2, true]);
    expect((await page(`&limit=2&after=${first.data[1]?.id ?? ""}`)).data).toEqual(all.data.slice(2));
    const other = await scene.caller(1);
    expect((await page("", other.token)).data).toEqual([]);
    expect((await scene.get("/v1/generations?parent_id=x")).status).toBe(422);
    expect((await scene.get(`/v1/generations?parent_id=${first.data[0]?.parent_id ?? ""}&model=any`)).status).toBe(422);
  });

  test("is charged for each response before its client reads the end", async () => {
    const client = await scene.open();
    const done = await client.ask("Hello");
    expect((await scene.books()).spent).toBe(costOf(usageOf(done)));
  });

  test("has the names and tags of its handshake in each generation", async () => {
    const { gateway } = scene;
    const own = { user: "tagged", organisation: "acme", credits: 0n, metadata: { team: "voice", cost: "7" } };
    const token = await gateway.token(own);
    const accounts = await gateway.cli("organisation", "set", "acme", "--tags", "team,run");
    expect(accounts.stderr).toBe("");
    expect((await gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "10")).code).toBe(0);
    const headers = { "x-tollgate-tags": "run=one,other=1", "x-tollgate-end-user": "u-1" };
    const client = await scene.open({ token, headers });
    await client.ask("words:2");
    client.socket.close(1000, "bye");
    const found = async () =>
      ((await (await scene.get("/v1/generations", token)).json()) as { data: Record<string, unknown>[] }).data;
    await until("it is recorded", async () => (await found()).length > 0);
    expect(await found()).toMatchObject([{ tags: { run: "one", team: "voice" }, end_user: "u-1" }]);
  });

  test("relays messages unchanged in both directions, also what it doesn't know", async () => {
    const client = await scene.open();
    const odd = '{ "event_id":"e1",  "type":"made.up", "n":1.0, "ü":"\\u00fc" }';
    client.send(odd);
    const error = await client.event("error");
    expect(error["error"]).toMatchObject({ code: "unknown_event", event_id: "e1" });
    client.socket.send(new Uint8Array([0, 1, 255]));
    await client.find(
      "the answer to bytes",
      ({ error: e }) => (e as { code?: string } | undefined)?.code === "invalid_event",
    );
    expect(scene.sockets()[0]?.messages[0]).toBe(odd);
  });

  test.each([
    ["no model", "", 422, "validation_failed", "model"],
    ["a model without a prefix", "model=gpt-realtime", 404, "model_not_routed", "model"],
    ["a model of another kind", "model=openai/gpt-4o-mini", 404, "unsupported_operation", "model"],
    ["a provider without sessions", "model=anthropic/claude-haiku-4-5", 404, "unsupported_operation", "model"],
    ["a call over WebRTC", "call_id=rtc_1", 422, "validation_failed", "call_id"],
    ["an unknown intent", `model=${model}&intent=x`, 422, "validation_failed", "intent"],
  ])("is refused with %s", async (_, query, status, code, param) => {
    expect(await scene.refusal({ query })).toMatchObject({ status, code, param });
    expect(scene.sockets()).toHaveLength(0);
  });

  test("is refused without credits for a first response, with nothing asked of the upstream", async () => {
    const poor = await scene.caller(0.01);
    expect(await scene.refusal({ token: poor.token })).toMatchObject({ status: 402, code: "insufficient_credits" });
    expect(scene.sockets()).toHaveLength(0);
    expect(await scene.books(poor.user)).toEqual({ spent: 0n, held: 0n });
  });

  test("costs nothing before it is open, also of a provider that bills its time", async () => {
    const refused = await scene.refusal({ query: "model=xai/missing-grok" });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const secret = await scene.post("/v1/realtime/client_secrets", { session: { model: "xai/grok-voice-latest" } });
    expect(secret.status).toBe(200);
    expect(await scene.spent()).toBe(0n);
    expect(await scene.generations()).toEqual([]);
  });

  test("passes an upstream's refusal on, without a key or a charge", async () => {
    const refused = await scene.refusal({ query: "model=openai/gpt-realtime%2Bstatus-503" });
    expect(refused).toMatchObject({ status: 503, code: "upstream_refused" });
    expect(await scene.spent()).toBe(0n);
  });
});
