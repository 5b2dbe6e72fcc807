/** The events of loops: in the orders that the makers' own streams have, by the schemas of the makers, and with the sum of the whole answer. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type JsonObject, objectOf, objectsOf } from "../../src/core/index.ts";
import { foldChat } from "../kit/dialects/fold-chat.ts";
import { foldMessages } from "../kit/dialects/fold-messages.ts";
import { foldResponses } from "../kit/dialects/fold-responses.ts";
import { errorsBy } from "../kit/schemas.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { dataIn, pairsIn, recordedPairs, type StreamedDialect } from "./event-grammar.ts";
import { hostedScene, type HostedScene, type ModelAnswer } from "./hosted-scene.ts";

const definition = (name: string) => ({ name, description: name, inputSchema: { type: "object", properties: {} } });
const taking = (name: string, member: string) => ({
  name,
  description: name,
  inputSchema: { type: "object", properties: { [member]: { type: "string" } }, required: [member] },
});

let server: TestServer;
beforeAll(() => {
  const call = ({ name }: JsonObject) =>
    name === "fails" ? { ...textResult("no such city"), isError: true } : textResult("Sunny.");
  server = startTestServer({
    era: "2026",
    tools: [...["weather", "fails"].map(definition), taking("run", "code")],
    call,
  });
});
afterAll(() => server.stop());

const run = "cities__run";
const at = hostedScene(() => ({
  mcp: { servers: { cities: { url: server.url } }, models: { image: "pictures/gpt-image-1" } },
  tools: { hosted: { code_interpreter: run, code_execution: run, file_search: run, shell: run } },
}));

const page = { path: "/a", title: "A", content: "About A." };
const search = { name: "web_search", args: { query: "q" } };
const open = (scene: HostedScene) => ({ name: "open_page", args: { url: scene.url("/a") } });
const find = (scene: HostedScene) => ({ name: "find_in_page", args: { url: scene.url("/a"), pattern: "A" } });
const cited: ModelAnswer = { thought: "I know.", text: 'It is <cite id="1">so</cite>, I think.' };
const own = { name: "own", args: {} };
const mcp = { type: "mcp", server_label: "cities", require_approval: "never" };
const responsesFunction = { type: "function", name: "own", parameters: { type: "object" }, strict: false };
const messagesFunction = { name: "own", input_schema: { type: "object" } };
const toolSearches = [
  { type: "tool_search_tool_bm25_20251119", name: "tool_search_tool_bm25" },
  { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
];
const webSearch = { type: "web_search_20250305", name: "web_search" };
const webFetch = { type: "web_fetch_20250910", name: "web_fetch" };

interface Case {
  title: string;
  body: object;
  answers: (scene: HostedScene) => ModelAnswer[];
  /** Whether Anthropic's public schemas lack its blocks, as those of betas. */
  isBeta?: boolean;
}

const input = "Hi";
const messages = [{ role: "user", content: "Hi" }];

const cases: Readonly<Record<StreamedDialect, readonly Case[]>> = {
  responses: [
    {
      title: "searches and pages, with thoughts and citations",
      body: { input, tools: [{ type: "web_search" }], include: ["web_search_call.action.sources"] },
      answers: (scene) => [
        { thought: "Hm.", text: "Let me look.", calls: [search, search] },
        { calls: [open(scene), find(scene)] },
        cited,
      ],
    },
    {
      title: "a search that fails",
      body: { input, tools: [{ type: "web_search" }] },
      answers: () => [{ calls: [{ name: "web_search", args: { query: "x".repeat(401) } }] }, { text: "Sorry." }],
    },
    {
      title: "a server's tools",
      body: { input, tools: [mcp] },
      answers: () => [
        { text: "Let me see.", calls: [{ name: "weather", args: {} }] },
        { calls: [{ name: "fails", args: {} }] },
        { text: "Done." },
      ],
    },
    {
      title: "an approval that is asked for",
      body: { input, tools: [{ ...mcp, require_approval: "always" }] },
      answers: () => [{ text: "May I?", calls: [{ name: "weather", args: {} }] }],
    },
    {
      title: "a function of the client beside a search",
      body: { input, tools: [{ type: "web_search" }, responsesFunction] },
      answers: () => [{ text: "Both.", calls: [search, own] }],
    },
    {
      title: "code that is run",
      body: {
        input,
        include: ["code_interpreter_call.outputs"],
        tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      },
      answers: () => [{ text: "Let me run it.", calls: [{ name: "code_interpreter", args: { code: "1" } }] }, cited],
    },
    {
      title: "a search in files",
      body: { input, tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
      answers: () => [{ calls: [{ name: "file_search", args: { queries: ["a"] } }] }, { text: "Done." }],
    },
    {
      title: "commands in a container",
      body: { input, tools: [{ type: "shell", environment: { type: "container_auto" } }] },
      answers: () => [{ calls: [{ name: "shell", args: { commands: ["ls"] } }] }, { text: "Done." }],
    },
    {
      title: "an image",
      body: { input, tools: [{ type: "image_generation" }] },
      answers: () => [
        { text: "Look.", calls: [{ name: "image_generation", args: { prompt: "a" } }] },
        { text: "Done." },
      ],
    },
    {
      title: "searches among deferred tools, and a call of one that was found",
      body: { input, tools: [{ type: "tool_search" }, { ...responsesFunction, defer_loading: true }] },
      answers: () => [
        { text: "Let me look.", calls: ["own", ""].map((query) => ({ name: "tool_search", args: { query } })) },
        { calls: [own] },
      ],
    },
    {
      title: "an answer that is too long",
      body: { input, max_output_tokens: 7, tools: [{ type: "web_search" }] },
      answers: () => [{ calls: [search] }, { text: "And so", finish: "length" }],
    },
  ],
  messages: [
    {
      title: "searches, with thoughts and citations",
      body: { max_tokens: 100, messages, tools: [webSearch] },
      answers: () => [{ text: "Let me look.", calls: [search, search] }, { calls: [search] }, cited],
    },
    {
      title: "pages that are fetched, and one that may not be",
      body: { max_tokens: 100, messages: [{ role: "user", content: "Read http://127.0.0.1:9/x" }], tools: [webFetch] },
      answers: () => [
        { calls: [{ name: "web_fetch", args: { url: "http://127.0.0.1:9/x" } }] },
        { calls: [{ name: "web_fetch", args: { url: "https://other.test" } }] },
        { text: "Done." },
      ],
    },
    {
      title: "a search beyond the limit",
      body: { max_tokens: 100, messages, tools: [{ ...webSearch, max_uses: 1 }] },
      answers: () => [{ calls: [search, search] }, { text: "Done." }],
    },
    {
      title: "code that is run",
      body: { max_tokens: 100, messages, tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
      answers: () => [{ text: "Look.", calls: [{ name: "code_execution", args: { code: "1" } }] }, { text: "Done." }],
    },
    {
      title: "searches among deferred tools, and a call of one that was found",
      body: { max_tokens: 100, messages, tools: [...toolSearches, { ...messagesFunction, defer_loading: true }] },
      answers: () => [
        { text: "Let me look.", calls: [{ name: "tool_search_tool_bm25", args: { query: "own" } }] },
        { calls: ["(", "own"].map((pattern) => ({ name: "tool_search_tool_regex", args: { pattern } })) },
        { calls: [own] },
      ],
    },
    {
      title: "a pause",
      body: { max_tokens: 100, messages, tools: [webSearch] },
      answers: () => [{ calls: [search] }],
    },
    {
      title: "a function of the client beside a search",
      body: { max_tokens: 100, messages, tools: [webSearch, messagesFunction] },
      answers: () => [{ text: "Both.", calls: [search, own] }],
    },
    {
      title: "a server's tools",
      body: { max_tokens: 100, messages, mcp_servers: [{ type: "url", name: "cities", url: "" }] },
      answers: () => [
        { text: "Let me see.", calls: [{ name: "weather", args: {} }] },
        { calls: [{ name: "fails", args: {} }] },
        { text: "Done." },
      ],
      isBeta: true,
    },
  ],
  chat: [
    {
      title: "searches, with citations",
      body: { messages, web_search_options: {}, stream_options: { include_usage: true } },
      answers: () => [{ text: "Let me look.", calls: [search] }, { text: 'It is <cite id="1">so</cite>.' }],
    },
    {
      title: "a function of the client beside a search",
      body: {
        messages,
        web_search_options: {},
        stream_options: { include_usage: true },
        tools: [{ type: "function", function: { name: "own" } }],
      },
      answers: () => [{ text: "Both.", calls: [search, own] }],
    },
  ],
};

const paths = { chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses" } as const;
const folds = { chat: foldChat, messages: foldMessages, responses: foldResponses } as const;
const schemas = {
  chat: ["openai", "CreateChatCompletionStreamResponse", "CreateChatCompletionResponse"],
  messages: ["anthropic", "MessageStreamEvent", "Message"],
  responses: ["openai", "ResponseStreamEvent", "Response"],
} as const;

/** Orders that no recording shows, and that follow from the makers' documents. */
const documented: Readonly<Record<StreamedDialect, readonly string[]>> = {
  chat: ["content > annotations", "annotations > finish", "content > tool_calls"],
  messages: [],
  responses: [
    "mcp_call_arguments.done > mcp_call.failed",
    "mcp_call.failed > output_item.done mcp_call",
    "output_item.added image_generation_call > image_generation_call.in_progress",
    "image_generation_call.in_progress > image_generation_call.generating",
    "image_generation_call.generating > image_generation_call.completed",
    "image_generation_call.completed > output_item.done image_generation_call",
    "output_item.added shell_call > output_item.done shell_call",
    "output_item.added shell_call_output > output_item.done shell_call_output",
    "output_item.added tool_search_call > output_item.done tool_search_call",
    "output_item.added tool_search_output > output_item.done tool_search_output",
    "output_item.done > incomplete",
    "incomplete > end",
  ],
};

/** An event as the schema has it: OpenAI's own item of a search that begins has no action, and the SDKs have a text as the error of a call. */
function asDocumented(event: JsonObject): JsonObject {
  const response = objectOf(event["response"]);
  if (response !== undefined) return { ...event, response: wholeAsDocumented(response) };
  const item = objectOf(event["item"]);
  if (item?.["type"] === "web_search_call")
    return { ...event, item: { action: { type: "search", query: "" }, ...item } };
  return item?.["type"] === "mcp_call" ? { ...event, item: withoutError(item) } : event;
}

function withoutError(item: JsonObject): JsonObject {
  const { error: _, ...rest } = item;
  return rest;
}

function wholeAsDocumented(answer: JsonObject): JsonObject {
  const { output } = answer;
  return output === undefined ? answer : { ...answer, output: objectsOf(output).map(withoutError) };
}

/** Without ids, times and sealed texts, which differ between two calls. */
function comparable(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/_?0[a-z0-9]{24}/g, "")
    .replaceAll(/call_\d+/g, "call")
    .replaceAll(/"encrypted_content":"[^"]{40,}"/g, '"encrypted_content":""')
    .replaceAll(/"(?:created|created_at|completed_at)":\d+/g, '"created":0');
  return JSON.parse(text);
}

describe.each(["responses", "messages", "chat"] as const)("in %s,", (dialect) => {
  const recorded = recordedPairs(dialect);
  const seen = new Set<string>();

  test.each(cases[dialect].map((each) => [each.title, each] as const))(
    "%s",
    async (_title, { body, answers, isBeta }) => {
      const scene = at();
      scene.finds(page);
      const text = JSON.stringify(body).replace('"url":""', `"url":"${scene.rig.gateway.url}/mcp/cities"`);
      const ask = async (stream: boolean): Promise<Response> => {
        scene.answers(...answers(scene));
        return scene.post(paths[dialect], { ...(JSON.parse(text) as object), stream });
      };
      const streamed = await (await ask(true)).text();
      const whole = (await (await ask(false)).json()) as JsonObject;
      const pairs = pairsIn(dialect, streamed);
      for (const pair of pairs) seen.add(pair);
      expect(pairs.filter((pair) => !recorded.has(pair) && !documented[dialect].includes(pair))).toEqual([]);
      const [owner, event, answer] = schemas[dialect];
      if (isBeta !== true) {
        expect(
          dataIn(streamed)
            .map((each) => errorsBy(owner, event, asDocumented(each)))
            .filter((errors) => errors !== ""),
        ).toEqual([]);
        expect(errorsBy(owner, answer, wholeAsDocumented(whole))).toBe("");
      }
      expect(comparable(folds[dialect](streamed))).toEqual(comparable(whole));
      if (dialect === "responses") checkNumbers(dataIn(streamed));
    },
  );

  test("no other order is expected than those that occur", () => {
    expect(documented[dialect].filter((pair) => !seen.has(pair) || recorded.has(pair))).toEqual([]);
  });
});

/** Numbers rise by one, and events of an item name it. */
function checkNumbers(events: readonly JsonObject[]): void {
  expect(events.map((event) => event["sequence_number"])).toEqual(events.map((_event, index) => index));
  const ids = new Map(
    events.flatMap(({ type, output_index: index, item }) =>
      type === "response.output_item.added" ? [[index, (item as JsonObject)["id"]] as const] : [],
    ),
  );
  for (const { item_id: id, output_index: index } of events)
    if (id !== undefined) expect(id).toBe(ids.get(index) ?? "");
}
