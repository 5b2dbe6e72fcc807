/**
 * Invalid bodies of Messages and Responses: refused with the field's name if the gateway has to understand them, passed
 * on if the upstream speaks the same dialect. Never an open hold, never an internal failure.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { expectNoInside, messagesPath, responsesPath, type Talker, talker, type ReceivedAnswer } from "../kit/index.ts";
import { type Hardened, startHardened } from "./hardened.ts";

const MIB = 1024 * 1024;

let hardened: Hardened;
let user: Talker;
beforeAll(async () => {
  hardened = await startHardened();
  user = talker(hardened.rig.gateway.url, hardened.caller.token);
});
afterEach(() => hardened.expectUnharmed());
afterAll(() => hardened.rig.stop());

interface Route {
  path: string;
  natives: readonly string[];
  others: readonly string[];
  /** A body with this conversation. */
  body: (model: string, said: unknown, more?: object) => object;
  /** The member that holds the conversation. */
  member: string;
}

const messages: Route = {
  path: messagesPath,
  natives: ["anthropic/claude-haiku-4-5"],
  others: ["deepseek/deepseek-chat", "google/gemini-2.5-flash", "mistral/mistral-small-latest"],
  body: (model, said, more = {}) => ({ model, max_tokens: 50, messages: said, ...more }),
  member: "messages",
};
const responses: Route = {
  path: responsesPath,
  natives: ["openai/gpt-4o-mini", "xai/grok-4.3", "byteplus/seed-1-8-251228"],
  others: ["deepseek/deepseek-chat", "google/gemini-2.5-flash", "anthropic/claude-haiku-4-5"],
  body: (model, said, more = {}) => ({ model, input: said, ...more }),
  member: "input",
};

/** Checks that no upstream has received it, and that the field is named, on either surface. */
async function expectRefused(route: Route, body: object | string, field: string): Promise<ReceivedAnswer> {
  const before = hardened.rig.simulators.total();
  const answer = await user.ask(route.path, { body });
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("invalid_request_error") as string]);
  const { error } = answer.json as { error: { message: string; param?: string } };
  if (route === responses) expect(error.param).toStartWith(field);
  expect(error.message).toStartWith(field);
  expect(answer.text.length).toBeLessThan(700);
  expectNoInside(answer.text);
  expect(hardened.rig.simulators.total()).toBe(before);
  return answer;
}

/** Checks that the upstream gets the body unchanged, and the client its answer. */
async function expectPassed(route: Route, body: object): Promise<void> {
  const before = hardened.rig.simulators.total();
  const answer = await user.ask(route.path, { body });
  expect([answer.status < 500, answer.text]).toEqual([true, answer.text]);
  expect(hardened.rig.simulators.total()).toBe(before + 1);
  const sent = JSON.parse(hardened.rig.simulators.requests().at(-1)?.body ?? "{}") as Record<string, unknown>;
  const { model: _, ...rest } = body as Record<string, unknown>;
  expect(sent).toMatchObject(rest);
}

const hi = { role: "user", content: "hi" };
const bare = { type: "object", properties: {} };
const image = (data: string) => ({ type: "base64", media_type: "image/png", data });
const toolUse = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
const toolResult = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "x" });
const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "x" });

describe("a conversation of Messages", () => {
  const rows: [string, unknown, string, object?][] = [
    ["an unknown block", [{ role: "user", content: [{ type: "of_tomorrow", x: 1 }] }], "messages.0.content.0.type"],
    ["a block without what makes it one", [{ role: "user", content: [{ type: "text" }] }], "messages.0.content.0.text"],
    ["a number as text", [{ role: "user", content: [{ type: "text", text: 5 }] }], "messages.0.content.0.text"],
    ["a result without a call", [{ role: "user", content: [toolResult("toolu_1")] }], "messages.0.content.0"],
    [
      "a result of another call",
      [hi, { role: "assistant", content: [toolUse("toolu_1")] }, { role: "user", content: [toolResult("toolu_2")] }],
      "messages.2.content.0",
    ],
    [
      "two results of one call",
      [
        hi,
        { role: "assistant", content: [toolUse("toolu_1")] },
        { role: "user", content: [toolResult("toolu_1"), toolResult("toolu_1")] },
      ],
      "messages.2.content.1",
    ],
    ["an empty message", [{ role: "user", content: [] }], "messages.0.content"],
    ["a role that is none", [{ role: "wizard", content: "hi" }], "messages.0.role"],
    ["a call by the user", [{ role: "user", content: [toolUse("toolu_1")] }], "messages.0.content.0"],
    ["a result by the assistant", [hi, { role: "assistant", content: [toolResult("x")] }, hi], "messages.1.content.0"],
    [
      "no base64",
      [{ role: "user", content: [{ type: "image", source: image("not base64!") }] }],
      "messages.0.content.0.source.data",
    ],
    [
      "half of base64",
      [
        {
          role: "user",
          content: [
            { type: "image", source: image("iVBORw0KGgo") },
            { type: "image", source: image("====") },
          ],
        },
      ],
      "messages.0.content",
    ],
    [
      "no address",
      [{ role: "user", content: [{ type: "image", source: { type: "url", url: "/etc/passwd" } }] }],
      "messages.0.content.0.source.url",
    ],
    ["a system prompt with a picture", [hi], "system.0", { system: [{ type: "image", source: image("aGk=") }] }],
    ["a tool without a name", [hi], "tools.0.name", { tools: [{ input_schema: bare }] }],
    ["tools that are none", [hi], "tools", { tools: "look" }],
    ["a temperature in words", [hi], "temperature", { temperature: "hot" }],
    ["a choice that is none", [hi], "tool_choice.type", { tool_choice: { type: "maybe" } }],
    ["thinking that is none", [hi], "thinking.type", { thinking: { type: "hard" } }],
    ["a budget in words", [hi], "thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: "all" } }],
    ["stop sequences that are none", [hi], "stop_sequences.0", { stop_sequences: [5] }],
  ];

  test.each(rows.map(([name, ...row]) => [name, row] as const))("with %s", async (_name, [said, field, more]) => {
    for (const model of messages.others) await expectRefused(messages, messages.body(model, said, more), field);
    for (const model of messages.natives) await expectPassed(messages, messages.body(model, said, more));
  });
});

describe("a conversation of Responses", () => {
  const part = (one: object) => [{ role: "user", content: [one] }];
  const rows: [string, unknown, string, object?][] = [
    ["an unknown item", [{ type: "of_tomorrow", x: 1 }], "input.0.type"],
    ["an unknown part", part({ type: "of_tomorrow" }), "input.0.content.0.type"],
    ["a part without what makes it one", part({ type: "input_text" }), "input.0.content.0.text"],
    ["a result without a call", [hi, output("call_1")], "input.1"],
    ["a result before its call", [output("call_1"), call("call_1")], "input.0"],
    ["two results of one call", [hi, call("call_1"), output("call_1"), output("call_1")], "input.3"],
    ["nothing in it", [], "input"],
    ["an empty message", [{ role: "user", content: [] }], "input.0.content"],
    ["a role that is none", [{ role: "wizard", content: "hi" }], "input.0.role"],
    ["no base64", part({ type: "input_image", image_url: "data:image/png;base64,%%%" }), "input.0.content.0.image_url"],
    ["no address", part({ type: "input_image", image_url: "/etc/passwd" }), "input.0.content.0.image_url"],
    ["a call without a name", [hi, { type: "function_call", call_id: "x", arguments: "{}" }], "input.1.name"],
    ["tools that are none", "hi", "tools", { tools: "look" }],
    ["a temperature in words", "hi", "temperature", { temperature: "hot" }],
    ["an effort that is none", "hi", "reasoning.effort", { reasoning: { effort: "some" } }],
    ["a format that is none", "hi", "text.format.type", { text: { format: { type: "yaml" } } }],
    ["instructions that are none", "hi", "instructions", { instructions: 5 }],
  ];

  test.each(rows.map(([name, ...row]) => [name, row] as const))("with %s", async (_name, [said, field, more]) => {
    for (const model of responses.others) await expectRefused(responses, responses.body(model, said, more), field);
    // Fields that the gateway itself reads are refused for every provider.
    if (field === "instructions") return;
    for (const model of responses.natives) await expectPassed(responses, responses.body(model, said, more));
  });

  test.each([["50"], [-1], [0], [1.5], [true], [[]], [{}], ["1e3"]])("with a limit that is %p", async (limit) => {
    for (const model of [...responses.natives, ...responses.others]) {
      await expectRefused(responses, responses.body(model, "hi", { max_output_tokens: limit }), "max_output_tokens");
    }
  });

  test.each(["true", 1, {}])("in a background that is %p", async (background) => {
    for (const model of [...responses.natives, ...responses.others]) {
      await expectRefused(responses, responses.body(model, "hi", { background }), "background");
    }
    for (const off of [false, null]) {
      const body = responses.body("deepseek/deepseek-chat", "hi", { background: off });
      expect((await user.ask(responsesPath, { body })).status).toBe(200);
    }
  });
});

describe.each([
  ["Messages", messages],
  ["Responses", responses],
] as const)("on %s", (_name, route) => {
  const all = [...route.natives, ...route.others];
  const said = (text: string): unknown => [{ role: "user", content: text }];

  test("an invalid conversation is refused for every provider", async () => {
    const nones = [5, true, null, {}, [5], [null], [[]], [{ role: 5, content: "x" }], [{ role: "user", content: 5 }]];
    for (const none of nones) {
      for (const model of all) await expectRefused(route, route.body(model, none), route.member);
    }
  });

  test("a JSON bomb is refused, however deep and wherever", async () => {
    const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    for (const model of all) {
      const start = JSON.stringify(route.body(model, said("hi"))).slice(0, -1);
      for (const levels of [200, 100_000]) {
        for (const member of ["tools", "metadata", "of_tomorrow"]) {
          const answer = await user.ask(route.path, { body: `${start},"${member}":${deep(levels)}}` });
          expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("levels deep") as string]);
        }
      }
    }
  });

  test("NULs, lone surrogates and unusual letters pass in text, and cause no failure in names", async () => {
    for (const odd of ["a\0b", "\ud800", "\u202e", "\ufeff", "🏳️‍🌈", "data: [DONE]\n\n", "</script>", "' OR 1=1 --"]) {
      for (const model of all) {
        const answer = await user.ask(route.path, { body: route.body(model, said(odd)) });
        expect([model, odd, answer.status]).toEqual([model, odd, 200]);
        const named = route.body(model, said("hi"), { metadata: { user_id: odd }, user: odd, tools: [{ name: odd }] });
        expect((await user.ask(route.path, { body: named })).status).toBeLessThan(500);
      }
    }
  });

  test("ids of any length are refused with a short word, or passed", async () => {
    const id = "x".repeat(10_000);
    const conversation = route === messages ? [{ role: "user", content: [toolResult(id)] }] : [hi, output(id)];
    for (const model of route.others) await expectRefused(route, route.body(model, conversation), route.member);
    for (const model of route.natives) await expectPassed(route, route.body(model, conversation));
  });

  test("keys that mean something to JavaScript mean nothing", async () => {
    for (const model of all) {
      for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
        const start = JSON.stringify(route.body(model, said("hi"))).slice(0, -1);
        const answer = await user.ask(route.path, { body: `${start},"${key}":{"polluted":true}}` });
        expect([model, key, answer.status < 500]).toEqual([model, key, true]);
      }
    }
  });

  test("an image of five mebibytes passes, and invalid base64 of that size is refused with a short message", async () => {
    const data = Buffer.alloc(5 * MIB, 7).toString("base64");
    const picture = (text: string) =>
      route === messages
        ? [
            {
              role: "user",
              content: [
                { type: "image", source: image(text) },
                { type: "text", text: "what is it?" },
              ],
            },
          ]
        : [
            {
              role: "user",
              content: [
                { type: "input_image", image_url: `data:image/png;base64,${text}` },
                { type: "input_text", text: "what is it?" },
              ],
            },
          ];
    for (const model of [...route.natives.slice(0, 1), ...route.others.slice(0, 2)]) {
      const answer = await user.ask(route.path, { body: route.body(model, picture(data)) });
      // A simulator that does not accept such an image refuses it itself.
      expect([model, answer.status < 500]).toEqual([model, true]);
      const sent = hardened.rig.simulators.requests().at(-1)?.body ?? "";
      expect(sent.length === 0 || sent.includes(data.slice(0, 1_000))).toBe(true);
    }
    for (const model of route.others.slice(0, 2)) {
      await expectRefused(route, route.body(model, picture(`${data.slice(0, -8)}%%%%`)), route.member);
    }
  });
});

test("counting tokens refuses unreadable fields, and passes fields for another provider", async () => {
  const path = `${messagesPath}/count_tokens`;
  const body = (model: string) => ({ model, messages: [{ role: "user", content: [{ type: "of_tomorrow" }] }] });
  const refused = await user.ask(path, { body: body("deepseek/deepseek-chat") });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("messages.0.content.0.type") as string]);
  expect((await user.ask(path, { body: body("anthropic/claude-haiku-4-5") })).status).toBe(400);
});

test("after all of it the books balance and nothing failed within", () => hardened.expectNoFailure());
