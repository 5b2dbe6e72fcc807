/**
 * Bounded runs of whatever chance brings to Messages and Responses, passed on and translated; a failure prints the seed
 * that brings it again.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { expectNoInside, messagesPath, responsesPath, type Talker, talker } from "../kit/index.ts";
import { type Hardened, startHardened } from "./hardened.ts";

const models = [
  "anthropic/claude-haiku-4-5",
  "openai/gpt-4o-mini",
  "xai/grok-4.3",
  "byteplus/seed-1-8-251228",
  "deepseek/deepseek-chat",
  "google/gemini-2.5-flash",
  "mistral/mistral-small-latest",
];

let hardened: Hardened;
let user: Talker;
beforeAll(async () => {
  hardened = await startHardened();
  user = talker(hardened.rig.gateway.url, hardened.caller.token);
});
afterEach(() => hardened.expectUnharmed());
afterAll(() => hardened.rig.stop());

/** Neither an error of the gateway's own making nor a word about its inside; a stream has an end. */
async function expectSane(path: string, body: string | Uint8Array | object): Promise<void> {
  const answer = await user.ask(path, { body });
  expect({ sent: body, status: answer.status, sane: answer.status < 500 }).toMatchObject({ sane: true });
  expect(answer.headers.get("x-request-id")).not.toBeNull();
  if (answer.status >= 400) expectNoInside(answer.text);
  else if (answer.headers.get("content-type")?.startsWith("text/event-stream") === true) {
    expect(answer.text).toMatch(/event: (?:message_stop|error|response\.(?:completed|incomplete|failed))\n/);
  }
}

const model = fc.constantFrom(...models);
const word = fc.constantFrom("", "x", "call_1", "look", "\0", "\ud800", "tollgate.x.thought.y", "data:,", "aGk=", "🙂");
const anything = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }), fc.constant(null));

/** Without these next to nothing gets past the first check. */
const needed = ["model", "max_tokens", "messages", "input", "type", "role", "content", "text", "name", "call_id", "id"];

/** A record of which any member may be odd, and most may be left out. */
function oddly(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  const often = Object.entries(members).map(([name, value]) => [
    name,
    fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: anything }),
  ]);
  return fc.record(Object.fromEntries(often) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: needed.filter((name) => name in members),
  });
}

const role = fc.constantFrom("user", "assistant", "system", "developer", "tool");
const schema = oddly({ type: fc.constant("object"), properties: fc.constant({ a: { type: "string" } }) });

const source = oddly({
  type: fc.constantFrom("base64", "url", "file", "text", "content"),
  media_type: fc.constantFrom("image/png", "application/pdf", "x"),
  data: word,
  url: fc.constantFrom("https://x.test/a.png", "data:image/png;base64,aGk=", "/x"),
});
const block = oddly({
  type: fc.constantFrom(
    "text",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "container_upload",
  ),
  text: word,
  thinking: word,
  signature: word,
  data: word,
  id: fc.constantFrom("call_1", "call_2"),
  tool_use_id: fc.constantFrom("call_1", "call_2"),
  name: fc.constant("look"),
  input: fc.constant({}),
  content: fc.oneof(word, fc.array(oddly({ type: fc.constant("text"), text: word }), { maxLength: 2 })),
  source,
  is_error: fc.boolean(),
  cache_control: fc.constant({ type: "ephemeral" }),
});
const messagesBody = oddly({
  model,
  max_tokens: fc.integer({ min: -1, max: 100 }),
  messages: fc.array(oddly({ role, content: fc.oneof(word, fc.array(block, { maxLength: 3 })) }), { maxLength: 4 }),
  system: fc.oneof(word, fc.array(block, { maxLength: 2 })),
  stream: fc.boolean(),
  tools: fc.array(oddly({ name: word, description: word, input_schema: schema, type: word }), { maxLength: 2 }),
  tool_choice: oddly({ type: fc.constantFrom("auto", "any", "tool", "none"), name: word }),
  thinking: oddly({
    type: fc.constantFrom("enabled", "disabled", "adaptive"),
    budget_tokens: fc.integer({ min: 0, max: 2_000 }),
  }),
  temperature: fc.double({ min: 0, max: 2 }),
  stop_sequences: fc.array(word, { maxLength: 2 }),
  metadata: oddly({ user_id: word }),
  output_config: oddly({ effort: word, format: oddly({ type: fc.constant("json_schema"), schema }) }),
});

const part = oddly({
  type: fc.constantFrom(
    "input_text",
    "output_text",
    "refusal",
    "input_image",
    "input_file",
    "input_audio",
    "summary_text",
  ),
  text: word,
  refusal: word,
  image_url: fc.constantFrom("https://x.test/a.png", "data:image/png;base64,aGk=", "/x"),
  file_data: word,
  filename: word,
  annotations: fc.constant([]),
});
const item = oddly({
  type: fc.constantFrom(
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "reasoning",
    "item_reference",
    "web_search_call",
  ),
  id: word,
  role,
  content: fc.oneof(word, fc.array(part, { maxLength: 3 })),
  call_id: fc.constantFrom("call_1", "call_2"),
  name: fc.constant("look"),
  arguments: fc.constantFrom("{}", "{", ""),
  input: word,
  output: fc.oneof(word, fc.array(part, { maxLength: 2 })),
  summary: fc.array(part, { maxLength: 2 }),
  encrypted_content: word,
});
const responsesBody = oddly({
  model,
  input: fc.oneof(word, fc.array(item, { maxLength: 4 })),
  instructions: word,
  stream: fc.boolean(),
  store: fc.boolean(),
  max_output_tokens: fc.integer({ min: 0, max: 100 }),
  previous_response_id: fc.oneof(fc.constant(undefined), word),
  tools: fc.array(
    oddly({ type: fc.constantFrom("function", "custom", "web_search"), name: word, parameters: schema }),
    {
      maxLength: 2,
    },
  ),
  tool_choice: fc.oneof(fc.constantFrom("auto", "none", "required"), oddly({ type: word, name: word })),
  reasoning: oddly({ effort: fc.constantFrom("none", "low", "high"), summary: fc.constant("auto") }),
  text: oddly({ format: oddly({ type: fc.constantFrom("text", "json_object", "json_schema"), name: word, schema }) }),
  include: fc.array(fc.constantFrom("reasoning.encrypted_content", "message.output_text.logprobs"), { maxLength: 2 }),
  top_logprobs: fc.integer({ min: -1, max: 5 }),
});

describe.each([
  [messagesPath, messagesBody],
  [`${messagesPath}/count_tokens`, messagesBody],
  [responsesPath, responsesBody],
] as const)("at %s", (path, body) => {
  test("bodies that are nearly right", async () => {
    await fc.assert(
      fc.asyncProperty(body, (one) => expectSane(path, JSON.stringify(one) ?? "")),
      { numRuns: 250 },
    );
  });

  test("any JSON in a member", async () => {
    const key = fc.constantFrom(
      "messages",
      "input",
      "system",
      "instructions",
      "tools",
      "tool_choice",
      "thinking",
      "reasoning",
      "text",
      "stream",
      "store",
      "metadata",
      "max_tokens",
      "max_output_tokens",
      "previous_response_id",
      "include",
    );
    const said = [{ role: "user", content: "hi" }];
    await fc.assert(
      fc.asyncProperty(model, key, fc.jsonValue({ maxDepth: 3 }), (to, name, value) =>
        expectSane(path, { model: to, max_tokens: 20, messages: said, input: said, [name]: value }),
      ),
      { numRuns: 200 },
    );
  });

  test("a good body with a piece of it replaced", async () => {
    const good = JSON.stringify({
      model: "deepseek/deepseek-chat",
      max_tokens: 20,
      messages: [{ role: "user", content: [{ type: "text", text: "hé" }] }],
      input: [{ role: "user", content: [{ type: "input_text", text: "hé" }] }],
    });
    const piece = fc.oneof(fc.constantFrom("{", "}", "[", "]", '"', "\\", ",", ":", "null", "\\u0000"), fc.string());
    const change = fc.record({ at: fc.nat(good.length), length: fc.nat(8), piece });
    await fc.assert(
      fc.asyncProperty(change, ({ at, length, piece: text }) =>
        expectSane(path, good.slice(0, at) + text + good.slice(at + length)),
      ),
      { numRuns: 100 },
    );
  });
});

test("responses are asked for by any name, with any query", async () => {
  const name = fc.oneof(fc.string(), fc.constantFrom("%00", "..", "%2e%2e%2f", "resp_1", "a%2Fb", "%"));
  const tail = fc.constantFrom("", "/input_items", "/input_items/x", "/cancel");
  const query = fc.oneof(
    fc.constant(""),
    fc.webQueryParameters().map((text) => `?${text}&limit=${text}`),
  );
  const method = fc.constantFrom("GET" as const, "DELETE" as const);
  await fc.assert(
    fc.asyncProperty(name, tail, query, method, async (id, end, asked, how) => {
      const path = `${responsesPath}/${id.replaceAll(/[^\x21-\x7e]/g, "_").replaceAll(/[#?\\]/g, "_")}${end}${asked}`;
      const { status, text } = await user.ask(path, { method: how });
      // Without an id it is the address of the WebSocket.
      expect({ path, status, known: [200, 404, 422, 426].includes(status) }).toMatchObject({ known: true });
      expectNoInside(text);
    }),
    { numRuns: 150 },
  );
});

test("a good part of it got to an upstream, and was answered", () => {
  const requests = hardened.rig.simulators.requests();
  expect(requests.length).toBeGreaterThan(150);
  expect(requests.filter(({ outcome }) => outcome === "answered").length).toBeGreaterThan(150);
});

test("after all of it the books balance and nothing failed within", () => hardened.expectNoFailure());
