/** A response belongs to its owner only, wherever it is stored: upstreams see all callers with one key. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  engines,
  expectRefusal,
  responseIn,
  responsesPath,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  type Talker,
  talker,
} from "../kit/index.ts";

const models = ["openai/gpt-4o-mini", "xai/grok-4.3", "byteplus/seed-1-8-251228", "deepseek/deepseek-chat"] as const;

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let alice: Talker;
  let mallory: Talker;

  beforeAll(async () => {
    rig = await startRig(await storageOn(engine, postgres));
    alice = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
    mallory = talker(rig.gateway.url, await rig.gateway.token({ user: "mallory" }));
  });
  afterEach(() => rig.expectBalancedBooks());
  afterAll(() => rig.stop());

  const expectNotFound = async (who: Talker, id: string, model: string): Promise<void> => {
    const one = `${responsesPath}/${encodeURIComponent(id)}`;
    const before = rig.simulators.total();
    for (const [path, method] of [
      [one, "GET"],
      [`${one}/input_items`, "GET"],
      [one, "DELETE"],
    ] as const) {
      const answer = await who.ask(path, { method });
      expectRefusal(answer, answer.text, { status: 404, code: "response_not_found" });
    }
    for (const stream of [true, false]) {
      const answer = await who.ask(responsesPath, { body: { model, input: "and?", previous_response_id: id, stream } });
      const param = "previous_response_id";
      expectRefusal(answer, answer.text, { status: 404, code: "response_not_found", param });
    }
    // No upstream has received it.
    expect(rig.simulators.total()).toBe(before);
  };

  test.each(models)("another's of %s is not found: neither read, listed, continued nor removed", async (model) => {
    const made = responseIn(await alice.ask(responsesPath, { body: { model, input: "a secret" } }));
    for (const other of models) await expectNotFound(mallory, made.id, other);
    expect((await alice.ask(`${responsesPath}/${made.id}`)).status).toBe(200);
  });

  test.each(models.slice(0, 3))("nor are responses that only the upstream of %s knows", async (model) => {
    // Stored there, by another way than through the gateway.
    const [provider = ""] = model.split("/");
    const base: string | undefined = rig.simulators.providers[provider as keyof typeof rig.simulators.providers];
    const body = JSON.stringify({ model: model.slice(provider.length + 1), input: "only there" });
    const headers = { authorization: "Bearer sk-simulated-upstream-key", "content-type": "application/json" };
    const direct = await fetch(`${base}/responses`, { method: "POST", headers, body });
    const { id } = (await direct.json()) as { id: string };
    expect(id).toBeString();
    for (const who of [alice, mallory]) await expectNotFound(who, id, model);
    const still = await fetch(`${base}/responses/${id}`, { headers });
    expect(still.status).toBe(200);
  });

  test("all tokens of a user have the same", async () => {
    const second = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
    const { id } = responseIn(await alice.ask(responsesPath, { body: { model: models[3], input: "hi" } }));
    const next = await second.ask(responsesPath, { body: { model: models[3], input: "x", previous_response_id: id } });
    expect(next.status).toBe(200);
    expect((await second.ask(`${responsesPath}/${id}`, { method: "DELETE" })).status).toBe(200);
    await expectNotFound(alice, id, models[3]);
  });

  test.each([
    "resp_none",
    "' OR 1=1 --",
    "'; DROP TABLE responses; --",
    "%",
    "..",
    "../models",
    "a/b",
    "\0",
    "resp_\0",
    "é".repeat(1_000),
    "x".repeat(5_000),
    "__proto__",
  ])("no invalid id is found: %p", async (id) => {
    // The path of a dot is another path.
    if (id !== "..") await expectNotFound(alice, id, models[3]);
    const body = { model: models[0], input: "x", previous_response_id: id };
    expect((await alice.ask(responsesPath, { body })).status).toBe(404);
  });

  test.each([
    ["", 422],
    [5, 422],
    [true, 422],
    [{}, 422],
    [["resp_1"], 422],
    [null, 200],
  ] as const)("a previous_response_id that is %p: %d", async (id, status) => {
    for (const model of [models[0], models[3]]) {
      const answer = await alice.ask(responsesPath, { body: { model, input: "x", previous_response_id: id } });
      expect([answer.status, answer.text]).toEqual([
        status,
        expect.stringContaining(status === 422 ? '"param":"previous_response_id"' : '"object":"response"') as string,
      ]);
    }
  });

  test("a token is needed for each", async () => {
    const nobody = talker(rig.gateway.url, "tg_aaaaaaaaaaaa_none");
    for (const [path, method] of [
      ["", "GET"],
      ["", "DELETE"],
      ["/input_items", "GET"],
    ] as const) {
      expect((await nobody.ask(`${responsesPath}/resp_1${path}`, { method })).status).toBe(401);
    }
  });

  test("after all of it nothing failed within", async () => {
    expect(rig.gateway.logLines().filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });
});
