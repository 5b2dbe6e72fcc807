/** Compaction with every provider: natively where there is one, else as a summary that every provider takes back. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type Caller,
  chatModels,
  newClient,
  responsesPath,
  type Rig,
  startRig,
  type Talker,
  talker,
} from "../kit/index.ts";

interface Item {
  id?: string;
  type: string;
  role?: string;
  encrypted_content: string;
}

let rig: Rig;
let client: OpenAI;
let caller: Caller;
let user: Talker;

beforeAll(async () => {
  rig = await startRig({});
  ({ client, caller } = await newClient(rig));
  user = talker(rig.gateway.url, caller.token);
});
afterEach(() => rig.expectBalancedBooks());
afterAll(() => rig.stop());

const native = "openai/gpt-5-mini";
const foreign = Object.values(chatModels).filter((model) => !model.startsWith("openai/"));

/** A conversation of an agent: the last word is the result of a tool, so that nothing else asks for an answer. */
const tools = [{ type: "function" as const, name: "look", parameters: { type: "object" }, strict: false }];
const history = [
  { role: "user" as const, content: "Find the blue file." },
  { type: "function_call" as const, call_id: "call_abcd1", name: "look", arguments: "{}" },
  { type: "function_call_output" as const, call_id: "call_abcd1", output: "It is called azure.txt." },
];
const trigger = { type: "compaction_trigger" as const };

const lastSent = (): string => rig.simulators.requests().at(-1)?.body ?? "";

/** Texts of ours as they stand in the item. */
const summaryIn = ({ encrypted_content: content }: Item): string =>
  Buffer.from(content.split(".").at(-1) ?? "", "base64url").toString();

describe("POST /v1/responses/compact", () => {
  test.each([native, ...foreign])("of %s has the user's messages and one item that stands for all", async (model) => {
    const before = await caller.closed();
    const compact = await client.responses.compact({ model, input: history, instructions: "You are an agent." });
    const output = compact.output as unknown as Item[];
    expect(compact).toMatchObject({
      object: "response.compaction",
      usage: { input_tokens: expect.any(Number) as number },
    });
    expect(output.map(({ type }) => type)).toEqual(["message", "compaction"]);
    expect(output[0]).toMatchObject({ role: "user", content: [{ type: "input_text", text: "Find the blue file." }] });
    expect(await caller.closed()).toBeGreaterThan(before);
    const [, item] = output;
    expect(item?.encrypted_content.startsWith("tollgate.summary.")).toBe(model !== native);
    expect((await user.ask(`${responsesPath}/${compact.id}`)).status).toBe(404);
  });

  test("takes a text, and what a stored response has said", async () => {
    const [model] = foreign;
    const first = await client.responses.create({ model: model ?? "", input: "Remember the word cobalt." });
    const compact = await client.responses.compact({
      model: model as "gpt-5",
      input: "go on",
      previous_response_id: first.id,
    });
    expect(lastSent()).toContain("cobalt");
    expect(compact.output.map(({ type }) => type as string)).toEqual(["message", "compaction"]);
  });

  test.each<[string, object, string]>([
    ["without a model", { input: "hi" }, "model"],
    ["without anything to sum up", { model: foreign[0] }, "input"],
    ["with an item that is none", { model: foreign[0], input: [{ type: "nothing" }] }, "input"],
  ])("%s is refused", async (_, body, param) => {
    const { status, json } = await user.ask(`${responsesPath}/compact`, { body });
    expect(status).toBe(422);
    expect((json as { error: { param: string } }).error.param).toStartWith(param);
  });

  test("that the upstream refuses costs nothing", async () => {
    const before = await caller.closed();
    const input = [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }] }];
    const { status } = await user.ask(`${responsesPath}/compact`, { body: { model: "deepseek/deepseek-chat", input } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await caller.closed()).toBe(before);
  });
});

describe("a trigger", () => {
  test.each(foreign)("of %s: the model is asked without being offered its tools, streamed and whole", async (model) => {
    const whole = await client.responses.create({ model, input: [...history, trigger] as never, tools });
    const [item] = whole.output as unknown as Item[];
    expect([whole.status, whole.output.length, item?.type]).toEqual(["completed", 1, "compaction"]);
    const sent = JSON.parse(lastSent()) as Record<string, unknown>;
    expect(JSON.stringify(sent)).toContain("azure.txt");
    expect(JSON.stringify(sent)).not.toContain("compaction_trigger");
    expect(JSON.stringify(sent)).toMatch(/"look"/);
    const stream = await client.responses.create({ model, input: [...history, trigger] as never, tools, stream: true });
    const types: string[] = [];
    let end: OpenAI.Responses.Response | undefined;
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "response.completed") end = event.response;
    }
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.output_item.done",
      "response.completed",
    ]);
    const [streamed] = (end?.output ?? []) as unknown as Item[];
    expect(summaryIn(streamed as Item)).toBe(summaryIn(item as Item));
  });

  test("goes to the provider that knows it as it is", async () => {
    await client.responses.create({ model: native, input: [...history, trigger] as never, tools, store: false });
    expect(JSON.parse(lastSent())).toMatchObject({ input: [{}, {}, {}, trigger] });
  });

  test("sums up for the rounds that follow it: only the summary goes on", async () => {
    const [model = ""] = foreign;
    const first = await client.responses.create({ model, input: "Remember the word cobalt." });
    const second = await client.responses.create({ model, input: [trigger] as never, previous_response_id: first.id });
    await client.responses.create({ model, input: "What now?", previous_response_id: second.id });
    expect(lastSent()).toContain("Summary of the conversation so far");
    expect(lastSent()).not.toContain("cobalt");
  });
});

describe("an item of ours", () => {
  test.each([native, ...foreign])("is the user's words for %s", async (model) => {
    const [maker = ""] = foreign;
    const compact = await client.responses.compact({ model: maker, input: history });
    const input = [...compact.output, { role: "user", content: "And now?" }] as never;
    const answer = await client.responses.create({ model, input, store: false });
    expect(answer.output_text).toContain("And now?");
    const sent = lastSent();
    expect(sent).toContain("Summary of the conversation so far");
    expect(sent).not.toContain("tollgate.summary");
  });

  test.each<[string, (content: string) => string]>([
    ["cut off", (content) => content.slice(0, -5)],
    ["edited", (content) => `${content.slice(0, -3)}\u00e9\u00e9\u00e9`],
    ["empty", () => "tollgate.summary.compaction.0."],
    ["too long", () => "tollgate.summary.compaction.99999999.aGk"],
  ])("that is %s is refused by its place", async (_, edit) => {
    const [maker = ""] = foreign;
    const compact = await client.responses.compact({ model: maker, input: history });
    const item = compact.output.at(-1) as unknown as Item;
    const input = [
      { ...item, encrypted_content: edit(item.encrypted_content) },
      { role: "user", content: "And now?" },
    ];
    for (const model of [native, maker]) {
      const { status, json } = await user.ask(responsesPath, { body: { model, input } });
      expect([status, (json as { error: { param: string } }).error.param]).toEqual([422, "input.0.encrypted_content"]);
    }
  });
});

test("an item of another maker is refused where it can't be read", async () => {
  const compact = await client.responses.compact({ model: native, input: history });
  const input = [...compact.output, { role: "user", content: "And now?" }];
  const own = await user.ask(responsesPath, { body: { model: native, input, store: false } });
  expect(own.status).toBe(200);
  const { status } = await user.ask(responsesPath, { body: { model: "deepseek/deepseek-chat", input } });
  expect(status).toBe(422);
});
