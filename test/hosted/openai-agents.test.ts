/** OpenAI's agents SDK for Python: its hosted tools on a model that knows chat alone, with approvals, functions beside and another turn. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { findPython, root } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, model, type ModelAnswer, type ModelRequest } from "./hosted-scene.ts";

const found = await findPython("test/client-blocks/requirements.txt");
if ("missing" in found) console.log(`skipped: openai-agents for Python, ${found.missing}`);

let server: TestServer;
beforeAll(() => {
  const definition = { name: "weather", description: "The weather", inputSchema: { type: "object", properties: {} } };
  const run = {
    name: "run",
    description: "",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  };
  server = startTestServer({ era: "2026", tools: [definition, run], call: () => textResult("Sunny.") });
});
afterAll(() => server.stop());

const at = hostedScene(() => ({
  mcp: { servers: { cities: { url: server.url } }, models: { image: "pictures/gpt-image-1" } },
  tools: { hosted: { code_interpreter: "cities__run", file_search: "cities__run" } },
}));

const calls: Readonly<Record<string, { name: string; args: Record<string, unknown> }>> = {
  code: { name: "code_interpreter", args: { code: "1" } },
  image: { name: "image_generation", args: { prompt: "a cat" } },
  files: { name: "file_search", args: { queries: ["weather"] } },
};

const search = { name: "web_search", args: { query: "height" } };

/** By the last message of the user, and the results after it. */
function nextAnswer({ messages }: ModelRequest): ModelAnswer {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(asked + 1).flatMap(({ role, content }) => (role === "tool" ? [content ?? ""] : []));
  const read = results.join(" ");
  switch (messages[asked]?.content) {
    case "search":
      return results.length === 0 ? { calls: [search] } : { text: 'It is <cite id="1">3747 m high</cite>.' };
    case "again":
      return { text: messages.some(({ role }) => role === "tool") ? "As before." : "I have forgotten it." };
    case "code":
    case "image":
    case "files": {
      const call = calls[messages[asked].content];
      return results.length === 0 && call !== undefined ? { calls: [call] } : { text: "Made." };
    }
    case "both":
      return results.length === 0
        ? { calls: [search, { name: "population", args: { city: "Ulm" } }] }
        : { text: read.includes("127 thousand") ? "Both." : "Not yet." };
    default:
      return results.length === 0 ? { calls: [{ name: "weather", args: {} }] } : { text: `I read: ${read}` };
  }
}

test.skipIf("missing" in found)("searches, servers, approvals, functions and continued turns", async () => {
  if ("missing" in found) return;
  const scene = at();
  scene.finds({ path: "/a", title: "A mountain", content: "3747 m high." });
  scene.answers(nextAnswer);
  const script = join(root, "test/hosted/python/openai_agents.py");
  const env = { ...process.env, URL: scene.rig.gateway.url, KEY: scene.caller.token, MODEL: model };
  const child = Bun.spawn([found.python, script], { env, stdout: "pipe", stderr: "pipe" });
  const [printed, failures, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect([code, failures]).toEqual([0, ""]);
  const searched = ["tool_call_item", "message_output_item"];
  const made = { answer: "Made.", items: searched };
  const sunny = expect.stringContaining("Sunny.") as string;
  const events = ["completed", "in_progress", "searching"].map((name) => `response.web_search_call.${name}`);
  expect(JSON.parse(printed)).toEqual({
    search: { answer: "It is 3747 m high.", items: searched },
    citations: [[scene.url("/a"), "3747 m high"]],
    continued: { answer: "As before.", items: ["message_output_item"] },
    streamed: { answer: "It is 3747 m high.", items: searched, events },
    server: { answer: sunny, items: ["mcp_list_tools_item", "tool_call_item", "message_output_item"] },
    approved: {
      answer: sunny,
      items: [
        "mcp_list_tools_item",
        "mcp_approval_request_item",
        "mcp_approval_response_item",
        "mcp_list_tools_item",
        "tool_call_item",
        "message_output_item",
      ],
    },
    refused: {
      answer: expect.stringContaining("not today") as string,
      items: [
        "mcp_list_tools_item",
        "mcp_approval_request_item",
        "mcp_approval_response_item",
        "mcp_list_tools_item",
        "message_output_item",
      ],
    },
    code: { ...made, made: [[{ type: "logs", logs: "Sunny." }]] },
    image: { ...made, made: ["iVBORw0KGgo="] },
    files: { ...made, made: [[expect.objectContaining({ filename: "run", text: "Sunny." })]] },
    beside: {
      answer: "Both.",
      items: ["tool_call_item", "tool_call_item", "tool_call_output_item", "message_output_item"],
    },
  });
  expect(server.of("tools/call")).toHaveLength(4);
});
