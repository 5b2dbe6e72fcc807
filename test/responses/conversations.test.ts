/** Conversations that calls of Responses add to, with OpenAI's own SDK and every provider. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import {
  type Caller,
  chatModels,
  engines,
  newClient,
  responsesPath,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  type Talker,
  talker,
  until,
} from "../kit/index.ts";

const postgres = sharedPostgres();
const models = Object.values(chatModels);
const foreign = "deepseek/deepseek-chat";
const path = "/v1/conversations";

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let client: OpenAI;
  let caller: Caller;
  let user: Talker;
  let other: Talker;

  beforeAll(async () => {
    rig = await startRig(await storageOn(engine, postgres));
    ({ client, caller } = await newClient(rig));
    user = talker(rig.gateway.url, caller.token);
    other = talker(rig.gateway.url, (await rig.caller()).token);
  });
  afterEach(() => rig.expectBalancedBooks());
  afterAll(() => rig.stop());

  const lastSent = (): string => rig.simulators.requests().at(-1)?.body ?? "";

  /** Texts of the messages, oldest first. */
  async function textsIn(id: string): Promise<string[]> {
    const texts: string[] = [];
    for await (const item of client.conversations.items.list(id, { order: "asc", limit: 100 })) {
      if (item.type !== "message") continue;
      texts.push(item.content.map((part) => ("text" in part ? part.text : "")).join(""));
    }
    return texts;
  }

  test("is created, shown, changed and deleted", async () => {
    const made = await client.conversations.create({ metadata: { topic: "a" } });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "a" } });
    expect(made.id).toStartWith("conv_");
    expect(await client.conversations.retrieve(made.id)).toMatchObject({ id: made.id, created_at: made.created_at });
    expect((await client.conversations.update(made.id, { metadata: { b: "c" } })).metadata).toEqual({ b: "c" });
    expect((await client.conversations.retrieve(made.id)).metadata).toEqual({ b: "c" });
    expect(await client.conversations.delete(made.id)).toMatchObject({ object: "conversation.deleted", deleted: true });
    expect((await user.ask(`${path}/${made.id}`)).status).toBe(404);
    expect(await client.conversations.create()).toMatchObject({ metadata: {} });
  });

  test("has items, which are added, listed in pages, shown and removed", async () => {
    const items = [{ type: "message" as const, role: "user" as const, content: "one" }];
    const { id } = await client.conversations.create({ items });
    const added = await client.conversations.items.create(id, {
      items: [
        { type: "message", role: "user", content: "two" },
        { type: "message", role: "user", content: "three" },
      ],
    });
    expect(added.data).toHaveLength(2);
    expect(await textsIn(id)).toEqual(["one", "two", "three"]);
    const page = await client.conversations.items.list(id, { limit: 2 });
    expect([page.data.length, page.has_more]).toEqual([2, true]);
    expect(page.data.map((item) => item.id)).toEqual(added.data.map((item) => item.id).toReversed());
    const [two] = added.data;
    const itemId = two?.id ?? "";
    expect(await client.conversations.items.retrieve(itemId, { conversation_id: id })).toMatchObject({ id: itemId });
    expect((await client.conversations.items.delete(itemId, { conversation_id: id })).id).toBe(id);
    expect(await textsIn(id)).toEqual(["one", "three"]);
    expect((await user.ask(`${path}/${id}/items/${itemId}`)).status).toBe(404);
  });

  test.each(models)(
    "%s: gets the items before the input, and adds input and output, streamed and whole",
    async (model) => {
      const items = [{ type: "message" as const, role: "user" as const, content: "Remember the word cobalt." }];
      const { id } = await client.conversations.create({ items });
      const first = await client.responses.create({ model, input: "one", conversation: id });
      expect(first.output_text).toContain("You said: one");
      expect(first.conversation).toEqual({ id });
      expect(lastSent()).toContain("cobalt");
      expect(lastSent()).not.toContain("conv_");
      const stream = await client.responses.create({ model, input: "two", conversation: { id }, stream: true });
      let second = "";
      const named: unknown[] = [];
      for await (const event of stream) {
        if ("response" in event) named.push(event.response.conversation);
        if (event.type === "response.completed") second = event.response.id;
      }
      expect(second).not.toBe("");
      expect(named.length).toBeGreaterThan(1);
      expect(named).toEqual(named.map(() => ({ id })));
      expect(lastSent()).toContain("You said: one");
      const texts = await textsIn(id);
      expect(texts).toEqual([
        "Remember the word cobalt.",
        "one",
        first.output_text,
        "two",
        expect.stringContaining("You said: two") as string,
      ]);
    },
  );

  test("goes from one provider to the next", async () => {
    const { id } = await client.conversations.create();
    for (const [index, model] of models.entries()) {
      const { output_text: text } = await client.responses
        .create({
          model,
          input: `turn ${index}`,
          conversation: id,
          reasoning: { effort: "high" },
        })
        .catch(() => client.responses.create({ model, input: `turn ${index}`, conversation: id }));
      expect(text).toContain(`You said: turn ${index}`);
      if (index > 0) expect(lastSent()).toContain(`turn ${index - 1}`);
    }
    expect((await textsIn(id)).filter((text) => text.startsWith("turn"))).toEqual(
      models.map((_, index) => `turn ${index}`),
    );
  });

  test("loses no item of turns that run at the same time", async () => {
    const { id } = await client.conversations.create();
    const turns = Array.from({ length: 12 }, (_, index) => `turn ${index} ends`);
    await Promise.all(turns.map((input) => client.responses.create({ model: foreign, input, conversation: id })));
    const texts = await textsIn(id);
    expect(texts).toHaveLength(2 * turns.length);
    for (const turn of turns) {
      const place = texts.indexOf(turn);
      expect(texts[place + 1]).toContain(`You said: ${turn}`);
    }
  });

  test("is continued in the background, and without storing the response", async () => {
    const { id } = await client.conversations.create();
    await client.responses.create({ model: foreign, input: "unstored", conversation: id, store: false });
    const { id: responseId } = await client.responses.create({
      model: foreign,
      input: "later",
      conversation: id,
      background: true,
    });
    await until("it has ended", async () => (await client.responses.retrieve(responseId)).status === "completed");
    expect((await textsIn(id)).filter((_, index) => index % 2 === 0)).toEqual(["unstored", "later"]);
  });

  test("of a call that failed nothing is added", async () => {
    const { id } = await client.conversations.create();
    for (const fault of ["status-400", "cut-3"]) {
      await user.ask(responsesPath, {
        body: { model: `${foreign}+${fault}`, input: "x", conversation: id, stream: true },
      });
    }
    expect(await textsIn(id)).toEqual([]);
  });

  test("excludes previous_response_id", async () => {
    const { id } = await client.conversations.create();
    const first = await client.responses.create({ model: foreign, input: "x" });
    const body = { model: foreign, input: "x", conversation: id, previous_response_id: first.id };
    const { status, text } = await user.ask(responsesPath, { body });
    expect([status, text]).toEqual([422, expect.stringContaining('"param":"previous_response_id"') as string]);
  });

  test("another user's is not found: neither shown, changed, continued nor removed", async () => {
    const { id } = await client.conversations.create({
      items: [{ type: "message", role: "user", content: "a secret" }],
    });
    const [item] = (await client.conversations.items.list(id)).data;
    const one = `${path}/${id}`;
    const before = rig.simulators.total();
    for (const [at, method, body] of [
      [one, "GET", undefined],
      [one, "POST", { metadata: {} }],
      [one, "DELETE", undefined],
      [`${one}/items`, "GET", undefined],
      [`${one}/items`, "POST", { items: [] }],
      [`${one}/items/${item?.id}`, "GET", undefined],
      [`${one}/items/${item?.id}`, "DELETE", undefined],
      ...models.map((model) => [responsesPath, "POST", { model, input: "and?", conversation: id }] as const),
    ] as const) {
      const answer = await other.ask(at, { method, ...(body && { body }) });
      expect([at, method, answer.status]).toEqual([at, method, 404]);
      expect(answer.text).not.toContain("secret");
    }
    expect(rig.simulators.total()).toBe(before);
    expect(await textsIn(id)).toEqual(["a secret"]);
  });

  test.each<[string, object]>([
    ["items that are none", { items: [5] }],
    ["items of no role", { items: [{ type: "message", role: 5, content: "x" }] }],
    ["too many items", { items: Array.from({ length: 21 }, () => ({ role: "user", content: "x" })) }],
    ["metadata that is none", { metadata: "x" }],
    ["too much metadata", { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])) }],
    ["a long value", { metadata: { a: "x".repeat(513) } }],
  ])("%s are refused", async (_, body) => {
    expect((await user.ask(path, { body })).status).toBe(422);
  });
});
