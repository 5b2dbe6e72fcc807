import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject, limits } from "../../core/index.ts";
import { principalOf, targetOf } from "../../sending/__fixtures__/upstreams.ts";
import type { Storage } from "../../storage/index.ts";
import { openStorage } from "../../../test/kit/storage.ts";
import { Conversations } from "../conversations/conversations.ts";
import { openConversationStore } from "../conversations/sql/open.ts";
import { rebaseErrorPath, type StorableCall, ResponseStoreService } from "./response-store-service.ts";
import { openResponseStore } from "./sql/open.ts";
import type { ResponseStore } from "./store.ts";

const native = "openai/gpt-5-mini";
const translated = "deepseek/deepseek-chat";

let now: number;
let storage: Storage;
let responses: ResponseStore;
let keeper: ResponseStoreService;

beforeEach(async () => {
  now = 1_000_000;
  storage = await openStorage("sqlite::memory:");
  responses = openResponseStore(storage);
  const conversations = new Conversations({
    store: openConversationStore(storage),
    clock: () => now,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  });
  keeper = new ResponseStoreService({ responses, conversations, clock: () => now });
});
afterEach(() => storage.close());

function callOf(model: string, request: JsonObject, user = "alice"): StorableCall {
  const target = targetOf(model, ["responses", "chat", "messages"]);
  return { principal: principalOf(user), target, request: { model, ...request }, callId: "c1" };
}

const answerOf = (id: string, text: string): JsonObject => ({
  id,
  object: "response",
  output: [{ type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text }] }],
});

/** One round whose answer has this id; an upstream that speaks Responses stores it. */
async function round(model: string, id: string, request: JsonObject, user = "alice"): Promise<void> {
  const call = callOf(model, request, user);
  await keeper.store(
    call,
    answerOf(id, `said in ${id}`),
    call.target.operation.storesAnswers === undefined ? undefined : { keyId },
  );
}

async function refusalOf(promise: Promise<unknown>): Promise<GatewayError> {
  const reason: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(reason instanceof GatewayError)) throw new Error(`no refusal: ${String(reason)}`);
  return reason;
}

/** Items in short: role and text. */
const told = (items: unknown): string[] =>
  (items as { role?: string; type?: string; content?: { text: string }[] }[]).map(
    ({ role, type, content }) => `${role ?? type}: ${content?.[0]?.text ?? ""}`,
  );

const keyId = "key-1";
const asItIs = { expanded: undefined, pinnedKeyId: undefined };

describe("a call that continues nothing", () => {
  test.each<[string, JsonObject]>([
    ["without an id", { input: "hi" }],
    ["with none", { input: "hi", previous_response_id: null }],
  ])("%s passes unchanged", async (_title, request) => {
    expect(await keeper.resolveInput(callOf(translated, request))).toEqual(asItIs);
  });
});

describe("a referenced item", () => {
  const nameOf = (id: string): JsonObject => ({ type: "item_reference", id });
  const after = (id: string): JsonObject => ({ input: [nameOf(id), { role: "user", content: "go on" }] });

  beforeEach(async () => {
    // Our responses have the ids of their calls, and so do their items.
    const call = { ...callOf(translated, { input: "one" }), callId: "c7" };
    await keeper.store(
      call,
      { ...answerOf("resp_c7", "hi"), output: [{ type: "message", id: "msg_c7_0", role: "assistant" }] },
      undefined,
    );
  });

  test.each(["msg_c7_0", "msg_c7_in0"])("of ours is put in its place: %s", async (id) => {
    for (const model of [translated, native]) {
      const { expanded: recalled } = await keeper.resolveInput(callOf(model, after(id)));
      expect(recalled?.earlierItems).toBe(0);
      expect(recalled?.ownItems).toEqual([
        expect.objectContaining({ id, type: "message" }) as JsonObject,
        expect.objectContaining({ role: "user" }) as JsonObject,
      ]);
      expect(recalled?.body["input"]).toEqual(recalled?.ownItems);
    }
  });

  test.each(["msg_c8_0", "msg_c7_9", "msg", "", "\0_\0", "a_b_c", "__proto__", `x_${"y".repeat(5_000)}`])(
    "that is not ours goes to the upstream as it is: %p",
    async (id) => {
      expect(await keeper.resolveInput(callOf(native, after(id)))).toEqual(asItIs);
    },
  );

  test("is only found by its owner", async () => {
    expect(await keeper.resolveInput(callOf(native, after("msg_c7_0"), "mallory"))).toEqual(asItIs);
  });

  test("is stored in full", async () => {
    const call = callOf(translated, after("msg_c7_0"));
    const { expanded: recalled } = await keeper.resolveInput(call);
    const said = { ...call, callId: "c9", request: { input: recalled?.ownItems } };
    await keeper.store(said, answerOf("resp_c9", "well"), undefined);
    const kept = await keeper.inputOf("resp_c9", principalOf("alice"));
    expect(kept.map((item) => (item as JsonObject)["id"])).toEqual(["msg_c7_0", "msg_c1_in1"]);
  });

  test("is looked up, up to a number", async () => {
    const input = (count: number) => ({ input: Array.from({ length: count }, (_, index) => nameOf(`msg_x_${index}`)) });
    expect(await keeper.resolveInput(callOf(native, input(limits.referencedItemsMax)))).toEqual(asItIs);
    const refusal = await refusalOf(keeper.resolveInput(callOf(native, input(limits.referencedItemsMax + 1))));
    expect(refusal).toMatchObject({ status: 422, param: "input" });
  });

  test("is looked up as long as the responses of all are no longer than rounds may be", async () => {
    const data = "x".repeat(limits.expandedBytesMax / 2);
    for (const callId of ["i1", "i2", "i3"]) {
      const output = ["0", "1"].map((number) => ({ type: "message", id: `msg_${callId}_${number}`, data }));
      await keeper.store({ ...callOf(translated, { input: "" }), callId }, { id: `resp_${callId}`, output }, undefined);
    }
    const input = (...ids: string[]) => ({ input: ids.map(nameOf) });
    const both = await keeper.resolveInput(callOf(translated, input("msg_i1_0", "msg_i1_1")));
    expect(both.expanded?.ownItems).toHaveLength(2);
    const refusal = await refusalOf(keeper.resolveInput(callOf(translated, input("msg_i1_0", "msg_i2_0"))));
    expect(refusal).toMatchObject({ status: 422, param: "input" });
  });
});

describe("a response that the gateway stores", () => {
  test("is put before the next round, the oldest first, for any provider", async () => {
    await round(translated, "resp_1", { input: "one" });
    await round("mistral/m", "resp_2", { input: [{ role: "user", content: "two" }], previous_response_id: "resp_1" });
    for (const model of [translated, native, "anthropic/claude-x", "xai/grok-4"]) {
      const next = { input: "three", previous_response_id: "resp_2", instructions: "be brief" };
      const { expanded: recalled } = await keeper.resolveInput(callOf(model, next));
      expect(recalled?.earlierItems).toBe(4);
      const { input, ...rest } = recalled?.body ?? {};
      expect(told(input)).toEqual([
        "user: one",
        "assistant: said in resp_1",
        "user: two",
        "assistant: said in resp_2",
        "user: three",
      ]);
      // The referenced item is in place, and only this round's instructions apply.
      expect(rest).toEqual({ model, instructions: "be brief" });
    }
  });

  test("is returned whole, and its input listed with that of the rounds before", async () => {
    await round(translated, "resp_1", { input: "one" });
    await round(translated, "resp_2", { input: "two", previous_response_id: "resp_1" });
    const found = await keeper.find("resp_2", principalOf("alice"));
    expect(JSON.parse(found.content?.response ?? "")).toEqual(answerOf("resp_2", "said in resp_2"));
    expect(told(await keeper.inputOf("resp_2", principalOf("alice")))).toEqual([
      "user: one",
      "assistant: said in resp_1",
      "user: two",
    ]);
  });

  test("expires", async () => {
    await round(translated, "resp_1", { input: "one" });
    now += limits.responseTtlMs - 1;
    expect((await keeper.find("resp_1", principalOf("alice"))).createdAt).toBe(1_000_000);
    now += 1;
    expect(await refusalOf(keeper.find("resp_1", principalOf("alice")))).toMatchObject({ status: 404 });
  });

  test("cannot be continued once a part of it is deleted, but the rest can be read", async () => {
    await round(translated, "resp_1", { input: "one" });
    await round(translated, "resp_2", { input: "two", previous_response_id: "resp_1" });
    await round(translated, "resp_3", { input: "three", previous_response_id: "resp_2" });
    await keeper.remove("resp_1", principalOf("alice"));
    const next = callOf(translated, { input: "four", previous_response_id: "resp_3" });
    const refusal = await refusalOf(keeper.resolveInput(next));
    expect(refusal).toMatchObject({ code: "response_not_found", param: "previous_response_id" });
    const left = ["user: two", "assistant: said in resp_2", "user: three"];
    expect(told(await keeper.inputOf("resp_3", principalOf("alice")))).toEqual(left);
    await keeper.remove("resp_2", principalOf("alice"));
    expect(told(await keeper.inputOf("resp_3", principalOf("alice")))).toEqual(["user: three"]);
  });
});

describe("a response that the upstream stores", () => {
  beforeEach(() => round(native, "resp_up", { input: "one" }));

  test("is recorded without its content", async () => {
    const found = await keeper.find("resp_up", principalOf("alice"));
    expect(found).toMatchObject({ owner: "alice", provider: "openai", model: "gpt-5-mini", content: undefined });
  });

  test("is continued there unchanged, with the key that made it", async () => {
    expect(
      await keeper.resolveInput(callOf("openai/another", { input: "two", previous_response_id: "resp_up" })),
    ).toEqual({
      expanded: undefined,
      pinnedKeyId: keyId,
    });
  });

  test.each(["azure/gpt-5-mini", "xai/grok-4", "anthropic/claude-x", translated])(
    "can't be continued by %s",
    async (model) => {
      const refusal = await refusalOf(
        keeper.resolveInput(callOf(model, { input: "two", previous_response_id: "resp_up" })),
      );
      expect(refusal).toMatchObject({ status: 422, param: "previous_response_id" });
      expect(refusal.message).toContain("kept by the provider openai");
    },
  );

  test("is continued there also behind one that is kept here, with what was said in that", async () => {
    const behind = callOf(native, { input: "two", previous_response_id: "resp_up" });
    await keeper.store(behind, answerOf("resp_here", "searched"), undefined);
    const next = { input: "three", previous_response_id: "resp_here" };
    const { expanded, pinnedKeyId } = await keeper.resolveInput(callOf(native, next));
    expect(told(expanded?.body["input"])).toEqual(["user: two", "assistant: searched", "user: three"]);
    expect([expanded?.body["previous_response_id"], pinnedKeyId]).toEqual(["resp_up", keyId]);
    const refusal = await refusalOf(keeper.resolveInput(callOf(translated, next)));
    expect(refusal).toMatchObject({ status: 422, param: "previous_response_id" });
  });

  test("that the gateway converted is stored here, because its client does not know the upstream's id", async () => {
    const call = callOf(native, { input: "one" });
    await keeper.store(call, answerOf("resp_ours", "hi"), undefined);
    const { expanded: recalled } = await keeper.resolveInput(
      callOf(native, { input: "two", previous_response_id: "resp_ours" }),
    );
    expect(told(recalled?.body["input"])).toEqual(["user: one", "assistant: hi", "user: two"]);
  });
});

describe("nothing is stored", () => {
  test.each([native, translated])("if the caller does not want it: %s", async (model) => {
    await round(model, "resp_1", { input: "one", store: false });
    expect(await refusalOf(keeper.find("resp_1", principalOf("alice")))).toMatchObject({ status: 404 });
  });

  test("of an answer without an id", async () => {
    await keeper.store(callOf(translated, { input: "one" }), { output: [] }, undefined);
    expect(await responses.chain("undefined", "alice", now)).toEqual([]);
  });
});

describe("another user's response, or an impossible id", () => {
  const ids = ["resp_bobs", "resp_up", "resp_none", "", "\0", "resp_bobs\0", "x".repeat(10_000), "' OR 1=1 --", "%"];

  beforeEach(async () => {
    await round(translated, "resp_bobs", { input: "secret" }, "bob");
    await round(native, "resp_up", { input: "secret" }, "bob");
  });

  test.each(ids.map((id) => [id.slice(0, 20), id] as const))("%p is not found by any request", async (_title, id) => {
    const alice = principalOf("alice");
    const asked: Promise<unknown>[] = [keeper.find(id, alice), keeper.inputOf(id, alice), keeper.remove(id, alice)];
    for (const model of [native, translated]) {
      asked.push(keeper.resolveInput(callOf(model, { input: "go on", previous_response_id: id })));
    }
    for (const one of asked) {
      const refusal = await refusalOf(one);
      expect([refusal.code, refusal.status]).toEqual(["response_not_found", 404]);
      expect(refusal.message.length).toBeLessThan(700);
      expect(refusal.message).not.toContain("secret");
    }
    const bob = principalOf("bob");
    expect((await keeper.find("resp_bobs", bob)).content).toBeDefined();
    expect((await keeper.find("resp_up", bob)).provider).toBe("openai");
  });

  test("a position in a conversation cannot be taken by guessing its id first", async () => {
    await round(translated, "resp_bobs", { input: "mine now" });
    expect(told(await keeper.inputOf("resp_bobs", principalOf("bob")))).toEqual(["user: secret"]);
  });
});

test("positions in a refusal are counted from the caller's own first item", () => {
  const of = (param: string | undefined) => {
    const options = param === undefined ? {} : { param };
    const refusal = new GatewayError("validation_failed", `${param ?? "body"}: is odd`, options);
    const own = rebaseErrorPath(refusal, { earlierItems: 4, earlierField: "previous_response_id" });
    return [own.param, own.message];
  };
  expect(of("input.4.type")).toEqual(["input.0.type", "input.0.type: is odd"]);
  expect(of("input.17")).toEqual(["input.13", "input.13: is odd"]);
  expect(of("input.3.content.0")).toEqual([
    "previous_response_id.3.content.0",
    "previous_response_id.3.content.0: is odd",
  ]);
  for (const param of ["input", "tools.4", "input_items.4"]) expect(of(param)).toEqual([param, `${param}: is odd`]);
  expect(of(undefined)).toEqual([undefined, "body: is odd"]);
});
