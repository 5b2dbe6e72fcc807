/** Requests with something that some models do not take: each is about one fact. */
import type { Dialect, FactName } from "../../src/core/index.ts";

type Json = Record<string, unknown>;

export interface Probe {
  title: string;
  /** The possible reasons of its refusal. */
  facts: readonly FactName[];
  dialect: Exclude<Dialect, "gemini">;
  body: Json;
}

const hello = { role: "user", content: "Hello." };
const call = (id: string, name = "look_up"): Json => ({ id, type: "function", function: { name, arguments: "{}" } });
const chat = (title: string, facts: FactName | readonly FactName[], members: Json): Probe => ({
  title,
  facts: [facts].flat(),
  dialect: "chat",
  body: { messages: [hello], ...members },
});
const messages = (title: string, facts: FactName | readonly FactName[], members: Json): Probe => ({
  title,
  facts: [facts].flat(),
  dialect: "messages",
  body: { messages: [hello], max_tokens: 5_000, ...members },
});
const responses = (title: string, facts: FactName | readonly FactName[], members: Json): Probe => ({
  title,
  facts: [facts].flat(),
  dialect: "responses",
  body: { input: "Hello.", ...members },
});

const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false };
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const sampling: readonly Json[] = [{ temperature: 0.5 }, { top_p: 0.5 }];
const penalties: readonly Json[] = [{ presence_penalty: 1 }, { frequency_penalty: 1 }];

const bounded = {
  ...schema,
  properties: { a: { type: "string", minLength: 2, pattern: "^a" }, b: { type: "integer", minimum: 1, maximum: 9 } },
};
const alternatives = {
  type: "object",
  oneOf: [{ required: ["a"] }, { required: ["b"] }],
  properties: bounded.properties,
};

/** Names with other letters, or too many. */
const oddNames = ["a.b/c d", "x".repeat(65), "x".repeat(129)];

/** All probes; an image is at this address. */
export const probesWith = (imageUrl: string): readonly Probe[] => [
  chat("a developer's prompt", "roles", { messages: [{ role: "developer", content: "Be kind." }, hello] }),
  chat("a system prompt within a user's turn", "roles", {
    messages: [hello, { role: "system", content: "Be kind." }, hello],
  }),
  chat("an earlier thought", "thoughts", {
    messages: [hello, { role: "assistant", content: "Hi.", reasoning_content: "Hm." }, hello],
  }),
  chat("an image by its address", "images", {
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: imageUrl } }] }],
  }),
  chat("a seed", "sampling", { seed: 3 }),
  chat("a stop sequence", "stop", { stop: ["\n\n\n"] }),
  chat("a limit by its former name", "output-limit", { max_tokens: 50 }),
  chat("an answer by a schema in chat", "formats", {
    response_format: { type: "json_schema", json_schema: { name: "a", strict: true, schema } },
  }),
  chat("an id of another provider", ["call-ids", "efforts", "chat-tools", "thoughts"], {
    tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }],
    messages: [
      hello,
      { role: "assistant", content: null, tool_calls: [call("call_0123456789")], reasoning_content: "Hm." },
      { role: "tool", tool_call_id: "call_0123456789", content: "42" },
    ],
    reasoning_effort: "none",
  }),
  ...[{}, { reasoning_effort: "none" }, { reasoning_effort: "low" }].map((members) =>
    chat(`functions with ${JSON.stringify(members)}`, ["chat-tools", "efforts"], {
      tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }],
      ...members,
    }),
  ),
  ...["required", { type: "function", function: { name: "look_up" } }].map((tool_choice) =>
    chat(`a forced tool, ${typeof tool_choice}`, ["forced-tools", "chat-tools"], {
      tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }],
      tool_choice,
    }),
  ),
  ...[{ type: "any" }, { type: "tool", name: "look_up" }].map((tool_choice) =>
    messages(`a forced tool, ${tool_choice.type}`, "forced-tools", {
      tools: [{ name: "look_up", input_schema: { type: "object", properties: {} } }],
      tool_choice,
    }),
  ),
  messages("no thinking", "thinking", { thinking: { type: "disabled" } }),
  ...["high", "max"].map((effort) =>
    messages(`no thinking and the effort ${effort}`, "thinking", {
      thinking: { type: "disabled" },
      output_config: { effort },
    }),
  ),
  messages("an answer to continue", "prefill", { messages: [hello, { role: "assistant", content: "It is" }] }),
  messages("an answer to continue, in blocks", "prefill", {
    messages: [hello, { role: "assistant", content: [{ type: "text", text: "It is" }] }],
  }),
  responses("a result of parts", ["tool-results", "thinking"], {
    input: [
      hello,
      { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "42" }] },
    ],
  }),
  chat("what the answers of other providers have", "members", {
    messages: [hello, { role: "assistant", content: "Hi.", refusal: null, annotations: [] }, hello],
  }),
  chat("the name of a user", "members", { messages: [{ ...hello, name: "ann" }] }),
  chat("an answer to continue in chat", "prefill", { messages: [hello, { role: "assistant", content: "It is" }] }),
  messages("thinking by a budget", "thinking", { thinking: { type: "enabled", budget_tokens: 2_000 } }),
  ...efforts.map((effort) => chat(`the effort ${effort}`, "efforts", { reasoning_effort: effort })),
  ...efforts.map((effort) => responses(`the effort ${effort}`, "efforts", { reasoning: { effort } })),
  ...[...sampling, ...penalties].map((members) => chat(JSON.stringify(members), "sampling", members)),
  ...sampling.map((members) =>
    chat(`${JSON.stringify(members)} while it thinks`, ["sampling", "efforts"], {
      ...members,
      reasoning_effort: "low",
    }),
  ),
  ...sampling.map((members) => responses(JSON.stringify(members), "sampling", members)),
  messages("an answer by a schema", "formats", { output_config: { format: { type: "json_schema", schema } } }),
  ...[...sampling, { top_k: 5 }].map((members) => messages(JSON.stringify(members), "sampling", members)),
  chat("a tool of free text", ["client-tools", "chat-tools"], {
    tools: [{ type: "custom", custom: { name: "note", description: "Notes." } }],
  }),
  ...["shell", "apply_patch", "local_shell"].map((type) =>
    responses(`a ${type}`, "client-tools", { tools: [{ type }] }),
  ),
  ...["x_search_call", "tool_search_call", "code_interpreter_call"].map((type) =>
    responses(`an earlier ${type}`, "hosted-items", {
      input: [
        hello,
        { type, id: "it_1", status: "completed", code: "1" },
        { role: "assistant", content: "Hi." },
        hello,
      ],
    }),
  ),
  responses("a tool of free text", "client-tools", { tools: [{ type: "custom", name: "note" }] }),
  ...oddNames.flatMap((name) => [
    chat(`functions named ${name.slice(0, 9)}, ${name.length}`, ["tool-names", "chat-tools"], {
      tools: [{ type: "function", function: { name, parameters: { type: "object", properties: {} } } }],
    }),
    messages(`a tool named ${name.slice(0, 9)}, ${name.length}`, "tool-names", {
      tools: [{ name, input_schema: { type: "object", properties: {} } }],
    }),
    responses(`a tool named ${name.slice(0, 9)}, ${name.length}`, "tool-names", {
      tools: [{ type: "function", name, parameters: { type: "object", properties: {} } }],
    }),
  ]),
  messages("an answer by a schema with bounds", ["schemas", "formats"], {
    output_config: { format: { type: "json_schema", schema: bounded } },
  }),
  messages("a strict tool with bounds", "schemas", { tools: [{ name: "f", input_schema: bounded, strict: true }] }),
  messages("a tool with bounds", "schemas", { tools: [{ name: "f", input_schema: bounded }] }),
  messages("a tool with alternatives", "schemas", { tools: [{ name: "f", input_schema: alternatives }] }),
  chat("functions with alternatives", ["schemas", "chat-tools"], {
    tools: [{ type: "function", function: { name: "f", parameters: alternatives } }],
  }),
  ...[{ reasoning: { effort: "low" } }, { thinking: { type: "enabled", budget_tokens: 2_000 } }].map((members) =>
    chat(`${Object.keys(members)[0]} in chat`, "thinking", members),
  ),
  chat("an answer to continue", "prefill", { messages: [hello, { role: "assistant", content: "Hi" }] }),
  chat("functions after an answer without its thoughts", ["thinking", "chat-tools", "efforts"], {
    tools: [{ type: "function", function: { name: "look_up", parameters: { type: "object", properties: {} } } }],
    messages: [hello, { role: "assistant", content: "Hi." }, hello],
  }),
  responses("functions after an answer without its thoughts in Responses", ["thinking", "efforts"], {
    tools: [{ type: "function", name: "look_up", parameters: { type: "object", properties: {} } }],
    input: [hello, { role: "assistant", content: "Hi." }, hello],
  }),
  responses("calls before the text of their answer", "call-order", {
    input: [
      hello,
      { type: "function_call", call_id: "call_1", name: "look_up", arguments: "{}" },
      { role: "assistant", content: "And another one." },
      { type: "function_call", call_id: "call_2", name: "look_up", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "1" },
      { type: "function_call_output", call_id: "call_2", output: "2" },
    ],
  }),
];
