/** Public reports about other gateways: requests that upstreams refused. Each is named in its title. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, messagesPath, responsesPath } from "../kit/index.ts";
import { answerAt, type ReportAnswer, type JsonBody, type Scene, startScene } from "./scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await startScene();
});
afterAll(() => scene.stop());

const SONNET = "claude-sonnet-4-6";
const hello = { role: "user", content: "hi" };
const object = { type: "object", properties: {} };
const functionTool = { type: "function", function: { name: "f", parameters: object } };
const calling = (id: string): JsonBody => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "f", arguments: "{}" } }],
});

/** Asks for a model, and returns the body that its upstream got. */
async function sentTo(
  path: string,
  model: string,
  body: JsonBody,
  headers?: Record<string, string>,
): Promise<JsonBody> {
  const asked = await askFor(path, model, body, headers);
  expect(asked.status, asked.text).toBe(200);
  return asked.sent?.body ?? {};
}

function askFor(path: string, model: string, body: JsonBody, headers?: Record<string, string>): Promise<ReportAnswer> {
  return scene.ask(path, { model, ...body }, answerAt, headers);
}

type Message = { role: string; content: unknown } & JsonBody;
const messagesIn = (sent: JsonBody): Message[] => sent["messages"] as Message[];
const asText = (value: unknown): string => JSON.stringify(value);

const chatOnly = ["mistral", "google", "generic", "vllm", "groq", "moonshot"] as const;

describe("9router 1371, CLIProxyAPI 5753, vm0 28274: Codex's apply_patch takes free text", () => {
  const format = { type: "grammar", syntax: "lark", definition: 'start: "x"' };
  const tools = [
    { type: "custom", name: "apply_patch", description: "p", format },
    { type: "function", name: "f", parameters: object },
  ];

  test.each([...chatOnly, "anthropic", "messages", "byteplus"])("is a function at %s", async (provider) => {
    const sent = await sentTo(responsesPath, `${provider}/m`, { input: "hi", tools });
    expect(asText(sent["tools"])).toContain("apply_patch");
    expect(asText(sent["tools"])).not.toContain('"custom"');
    // Its grammar is in the description.
    expect(asText(sent["tools"])).toContain("start:");
  });

  test("stays as it is at xAI, OpenAI and OpenRouter", async () => {
    for (const provider of ["xai", "openai", "openrouter"]) {
      expect(await sentTo(responsesPath, `${provider}/m`, { input: "hi", tools })).toMatchObject({ tools });
    }
  });

  test.each(["deepseek/deepseek-chat", `messages/${SONNET}`])("returns from a history at %s", async (model) => {
    const sent = await sentTo(responsesPath, model, {
      input: [
        hello,
        { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin" },
        { type: "custom_tool_call_output", call_id: "c1", output: "ok" },
        { role: "user", content: "more" },
      ],
    });
    expect(asText(sent)).toContain("*** Begin");
    expect(asText(sent)).toContain("apply_patch");
  });
});

describe("claude-code 77698, ollama 17774, hermes-studio 2714: `system` in mid-conversation", () => {
  const body = { max_tokens: 100, system: "S", messages: [hello, { role: "system", content: "MID" }] };
  const beta = { "anthropic-version": "2023-06-01", "anthropic-beta": "mid-conversation-system-2026-04-07" };

  test.each(["mistral", "generic", "vllm"])("joins the user's turn at %s", async (provider) => {
    const sent = messagesIn(await sentTo(messagesPath, `${provider}/m`, body, beta));
    expect(sent.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(asText(sent[1])).toContain("MID");
  });

  test.each(["deepseek", "google", "openrouter", "groq", "moonshot", "xai", "byteplus", "openai"])(
    "stays where it is at %s",
    async (provider) => {
      const sent = messagesIn(await sentTo(messagesPath, `${provider}/m`, body, beta));
      expect(sent.map(({ role }) => role)).toEqual(["system", "user", "system"]);
    },
  );

  test.each(["anthropic", "messages"])("passes to %s", async (provider) => {
    expect(messagesIn(await sentTo(messagesPath, `${provider}/m`, body, beta))).toEqual(body.messages as Message[]);
  });
});

test("gproxy 209: a developer's item at the beginning is Claude's prompt", async () => {
  const sent = await sentTo(responsesPath, `messages/${SONNET}`, {
    instructions: "I",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "D" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
    ],
  });
  expect(messagesIn(sent)).toMatchObject([{ role: "user" }]);
  expect(asText(sent["system"])).toMatch(/I.*D/);
});

describe("cline 11885, opencode 43684: names of tools", () => {
  const long = "mcp__very_long_server_name_that_goes_on__and_a_tool_name_that_goes_on_too_long_yes";
  const nameIn = ({ tools }: JsonBody): string => {
    const [tool] = tools as { name?: string; function?: { name: string } }[];
    return tool?.name ?? tool?.function?.name ?? "";
  };

  test("with more than 64 characters at OpenAI", async () => {
    const body = { max_tokens: 10, messages: [hello], tools: [{ name: long, input_schema: object }] };
    expect(nameIn(await sentTo(messagesPath, "openai/m", body))).toMatch(/^mcp__[\w-]{1,59}$/);
  });

  test("with letters that Claude refuses", async () => {
    const tools = [{ type: "function", name: "a.b/c d", parameters: object }];
    expect(nameIn(await sentTo(responsesPath, "messages/m", { input: "x", tools }))).toMatch(/^[\w-]{1,128}$/);
  });
});

test.each([undefined, null, {}, { type: "object" }, { properties: {} }])(
  "a tool whose schema is %j has one at Claude",
  async (parameters) => {
    const tools = [{ type: "function", name: "f", parameters }];
    const sent = await sentTo(responsesPath, "messages/m", { input: "x", tools });
    expect(sent["tools"]).toMatchObject([{ name: "f", input_schema: { type: "object" } }]);
  },
);

describe("opencode 1680, openclaw 52548: Mistral takes ids of nine letters and digits", () => {
  const idsIn = (sent: JsonBody): string[] =>
    messagesIn(sent).flatMap((message) => {
      const [call] = (message["tool_calls"] ?? []) as { id: string }[];
      return [call?.id, message["tool_call_id"]].filter((id): id is string => typeof id === "string");
    });

  test("in chat", async () => {
    const id = "call_0123456789";
    const messages = [hello, calling(id), { role: "tool", tool_call_id: id, content: "1" }];
    const ids = idsIn(await sentTo(chatPath, "mistral/m", { messages, tools: [functionTool] }));
    expect(ids).toEqual([ids[0] ?? "", ids[0] ?? ""]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
  });

  test("in Messages", async () => {
    const id = "toolu_01ABCDEFGHIJKLMNOP";
    const messages = [
      hello,
      { role: "assistant", content: [{ type: "tool_use", id, name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "1" }] },
    ];
    const body = { max_tokens: 10, messages, tools: [{ name: "f", input_schema: object }] };
    const ids = idsIn(await sentTo(messagesPath, "mistral/m", body));
    expect(ids).toEqual([ids[0] ?? "", ids[0] ?? ""]);
    expect(ids[0]).toMatch(/^[a-zA-Z0-9]{9}$/);
  });
});

describe("histories of chat at Claude", () => {
  const sentOf = async (messages: readonly JsonBody[], tools?: readonly JsonBody[]) =>
    messagesIn(await sentTo(chatPath, "messages/m", { messages, tools }));

  test("several turns of the same speaker", async () => {
    const sent = await sentOf([
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "x" },
      { role: "assistant", content: "y" },
      { role: "user", content: "c" },
    ]);
    expect([...asText(sent).matchAll(/"(?:text|content)":"(\w*)"/g)].map(([, text]) => text).join("")).toBe("abxyc");
  });

  test("results come before the words of the same turn, whatever their order", async () => {
    const sent = await sentOf(
      [
        hello,
        {
          role: "assistant",
          content: null,
          tool_calls: ["c1", "c2"].map((id) => ({ id, type: "function", function: { name: "f", arguments: "{}" } })),
        },
        { role: "tool", tool_call_id: "c2", content: "2" },
        { role: "tool", tool_call_id: "c1", content: "1" },
        { role: "user", content: "go on" },
      ],
      [functionTool],
    );
    const types = ((sent.at(-1)?.content ?? []) as JsonBody[]).map(({ type }) => type);
    expect(types).toEqual(["tool_result", "tool_result", "text"]);
  });

  test("empty texts are left out", async () => {
    const sent = await sentOf([
      { role: "system", content: "" },
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "x" },
        ],
      },
      { role: "assistant", content: "" },
      { role: "user", content: "y" },
    ]);
    expect(asText(sent)).not.toContain('"text":""');
  });

  test("an answer to continue does not end with white space", async () => {
    const sent = await sentOf([hello, { role: "assistant", content: "Sure: " }]);
    expect(asText(sent.at(-1))).toContain("Sure:");
    expect(asText(sent.at(-1))).not.toContain("Sure: ");
  });

  test("ids of calls have letters that it takes", async () => {
    const id = "call:1/é#2";
    const sent = await sentOf([hello, calling(id), { role: "tool", tool_call_id: id, content: "1" }], [functionTool]);
    const [, call, result] = sent.map(({ content }) => (content as JsonBody[])[0]);
    expect(call?.["id"]).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(result?.["tool_use_id"]).toBe(call?.["id"]);
  });
});
