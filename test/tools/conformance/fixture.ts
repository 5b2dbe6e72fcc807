/** A server with the tools, prompts and resources that the official suite names, in one revision. */
import { createTaskFixture, taskTools } from "./task-fixture.ts";
import { startTestServer, type TestServer, textResult } from "../tool-server.ts";

type Json = Record<string, unknown>;

const image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const sound = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const imagePart = { type: "image", data: image, mimeType: "image/png" };
const resourcePart = (uri: string, text: string): Json => ({
  type: "resource",
  resource: { uri, mimeType: "text/plain", text },
});

const elicit = (member: string, type = "string"): Json => ({
  method: "elicitation/create",
  params: {
    message: `Which ${member}?`,
    requestedSchema: { type: "object", properties: { [member]: { type } }, required: [member] },
  },
});
const sampling: Json = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "The capital of France?" } }], maxTokens: 100 },
};
const roots: Json = { method: "roots/list", params: {} };

const elicitWith = (properties: Json): Json => ({
  method: "elicitation/create",
  params: { message: "Tell me", requestedSchema: { type: "object", properties } },
});
const titled = ["value1", "value2"].map((value) => ({ const: value, title: `Title of ${value}` }));

const results: Readonly<Record<string, Json>> = {
  test_simple_text: textResult("This is a simple text response for testing."),
  test_image_content: { content: [imagePart] },
  test_audio_content: { content: [{ type: "audio", data: sound, mimeType: "audio/wav" }] },
  test_embedded_resource: {
    content: [resourcePart("test://embedded-resource", "This is an embedded resource content.")],
  },
  test_multiple_content_types: {
    content: [
      { type: "text", text: "Multiple content types test:" },
      imagePart,
      {
        type: "resource",
        resource: {
          uri: "test://mixed-content-resource",
          mimeType: "application/json",
          text: '{"test":"data","value":123}',
        },
      },
    ],
  },
  test_error_handling: { ...textResult("This tool intentionally returns an error for testing"), isError: true },
  test_tool_with_progress: textResult("done"),
  test_tool_with_logging: textResult("done"),
  test_logging_tool: textResult("done"),
  test_missing_capability: {
    error: { code: -32_021, message: "It samples", data: { requiredCapabilities: { sampling: {} } } },
  },
};

/** The questions of a tool in each of its rounds, and whether it gives a state with that. */
const dialogues: Readonly<Record<string, { rounds: Json[]; hasState: boolean }>> = {
  test_streaming_elicitation: { rounds: [{ answer: elicit("name") }], hasState: false },
  test_sampling: { rounds: [{ answer: sampling }], hasState: false },
  test_elicitation: {
    rounds: [{ answer: elicitWith({ username: { type: "string" }, email: { type: "string" } }) }],
    hasState: false,
  },
  test_elicitation_sep1034_defaults: {
    rounds: [
      {
        answer: elicitWith({
          name: { type: "string", default: "John Doe" },
          age: { type: "integer", default: 30 },
          score: { type: "number", default: 95.5 },
          status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
          verified: { type: "boolean", default: true },
        }),
      },
    ],
    hasState: false,
  },
  test_elicitation_sep1330_enums: {
    rounds: [
      {
        answer: elicitWith({
          untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
          titledSingle: { type: "string", oneOf: titled },
          legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
          untitledMulti: { type: "array", items: { type: "string", enum: ["option1", "option2", "option3"] } },
          titledMulti: { type: "array", items: { anyOf: titled } },
        }),
      },
    ],
    hasState: false,
  },
  test_input_required_result_elicitation: { rounds: [{ user_name: elicit("name") }], hasState: false },
  test_input_required_result_sampling: { rounds: [{ capital_question: sampling }], hasState: false },
  test_input_required_result_list_roots: { rounds: [{ client_roots: roots }], hasState: false },
  test_input_required_result_request_state: { rounds: [{ confirm: elicit("ok", "boolean") }], hasState: true },
  test_input_required_result_multiple_inputs: {
    rounds: [{ user_name: elicit("name"), greeting: sampling, client_roots: roots }],
    hasState: true,
  },
  test_input_required_result_multi_round: {
    rounds: [{ step1: elicit("name") }, { step2: elicit("color") }],
    hasState: true,
  },
  test_input_required_result_tampered_state: { rounds: [{ confirm: elicit("ok", "boolean") }], hasState: true },
  test_input_required_result_capabilities: { rounds: [{ name: elicit("name"), capital: sampling }], hasState: false },
  test_input_required_result_prompt: { rounds: [{ user_context: elicit("context") }], hasState: false },
};

/** The next question; undefined once all are answered. A wrong state begins again. One tool asks whomever it can't ask. */
function questionOf(params: Json): Json | undefined {
  const name = String(params["name"]);
  const { rounds = [], hasState = false } = dialogues[name] ?? {};
  const given = (params["inputResponses"] ?? {}) as Json;
  if (Object.values(given).some((answer) => typeof answer !== "object"))
    return { error: { code: -32_602, message: "An answer must be an object." } };
  const meta = (params["_meta"] ?? {}) as Record<string, Json>;
  const declared = meta["io.modelcontextprotocol/clientCapabilities"] ?? {};
  const isAnswered = (round: Json): boolean => Object.keys(round).some((key) => key in given);
  const next = rounds.findIndex(isAnswered) + 1;
  const isRight = !hasState || next === 0 || params["requestState"] === `round ${next - 1}`;
  const round = rounds[isRight ? next : 0];
  if (round === undefined) return undefined;
  const asked = Object.entries(round).filter(([, question]) => {
    const [capability = ""] = String((question as Json)["method"]).split("/");
    return capability in declared || name === "test_input_required_result_sampling";
  });
  return {
    resultType: "input_required",
    inputRequests: Object.fromEntries(asked),
    ...(hasState && { requestState: `round ${next}` }),
  };
}

const schemas: Readonly<Record<string, Json>> = {
  test_x_mcp_header: {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" }, level: { type: "integer" } },
  },
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["phone"] },
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

const names = [...Object.keys(results), ...Object.keys(dialogues), ...Object.keys(schemas), ...taskTools];
const tools = names.map((name) => ({
  name,
  description: `The tool ${name} of the suite`,
  inputSchema: schemas[name] ?? { type: "object", properties: {} },
}));

function prompt(...contents: Json[]): Json {
  return { messages: contents.map((content) => ({ role: "user", content })) };
}

const prompts: Readonly<Record<string, (given: Json) => Json>> = {
  test_simple_prompt: () => prompt({ type: "text", text: "This is a simple prompt for testing." }),
  test_prompt_with_arguments: ({ arg1, arg2 }) =>
    prompt({ type: "text", text: `Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'` }),
  test_prompt_with_embedded_resource: ({ resourceUri }) =>
    prompt(resourcePart(String(resourceUri), "Embedded resource content for testing."), {
      type: "text",
      text: "Read it.",
    }),
  test_input_required_result_prompt: () => prompt({ type: "text", text: "Thank you." }),
  test_prompt_with_image: () => prompt(imagePart, { type: "text", text: "Please analyze the image above." }),
};

const promptArguments: Readonly<Record<string, string[]>> = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

const contents: Readonly<Record<string, Json>> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: image },
};

function read(uri: string): Json | undefined {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? [];
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  const found = id === undefined ? contents[uri] : { mimeType: "application/json", text };
  return found && { contents: [{ uri, ...found }] };
}

const methods: Readonly<Record<string, (params: Json) => Json | undefined>> = {
  "prompts/list": () => ({
    prompts: Object.keys(prompts).map((name) => ({
      name,
      description: `The prompt ${name} of the suite`,
      arguments: (promptArguments[name] ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  }),
  "prompts/get": (params) =>
    questionOf(params) ?? prompts[String(params["name"])]?.((params["arguments"] ?? {}) as Json),
  "resources/list": () => ({
    resources: Object.entries(contents).map(([uri, { mimeType }]) => ({
      uri,
      name: uri,
      description: "Static",
      mimeType,
    })),
  }),
  "resources/templates/list": () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" }],
  }),
  "resources/read": ({ uri }) =>
    read(String(uri)) ?? { refusal: { code: -32_602, message: "There is no such resource.", data: { uri } } },
  "completion/complete": () => ({ completion: { values: [], total: 0, hasMore: false } }),
};

export function startFixture(era: "2025" | "2026"): TestServer {
  const tasks = createTaskFixture();
  return startTestServer({
    era,
    tools,
    capabilities: { logging: {}, resources: { subscribe: true } },
    call: (params, report, _signal, { notify }) => {
      const { name } = params;
      if (name === "test_tool_with_progress") for (const progress of [0, 50, 100]) report({ progress, total: 100 });
      if (name === "test_tool_with_logging")
        for (const data of ["started", "processing", "completed"])
          notify("notifications/message", { level: "info", data: `Tool execution ${data}` });
      const state = String(params["requestState"]);
      return tasks.call(params) ?? questionOf(params) ?? results[String(name)] ?? textResult(`state-ok: ${state}`);
    },
    answer: (method, params) => tasks.answer(method, params) ?? methods[method]?.(params),
  });
}
