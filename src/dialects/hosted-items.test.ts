import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { chatTranslation } from "./chat/index.ts";
import type { DialectTranslation } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";

const target = { model: "m", origin: "other", outputTokensMax: 1_000 };
const hello = { role: "user", content: "hello" };

function translate(body: JsonObject, from: DialectTranslation, to: DialectTranslation): JsonObject {
  return to.writeRequest(from.readRequest({ model: "m", max_tokens: 10, ...body }), target);
}

const ofResponses = (input: JsonObject[], to: DialectTranslation = chatTranslation): JsonObject =>
  translate({ input: [hello, ...input, hello] }, responsesTranslation, to);

const ofMessages = (content: JsonObject[], to: DialectTranslation = chatTranslation): JsonObject =>
  translate({ messages: [hello, { role: "assistant", content }, hello] }, messagesTranslation, to);

const said = (content: string) => ({ role: "assistant", content });

describe("items of tools that OpenAI or xAI has run", () => {
  test.each<[string, JsonObject]>([
    ["a search that has not begun", { type: "web_search_call", id: "ws", status: "in_progress" }],
    ["a listing of tools", { type: "mcp_list_tools", id: "m", server_label: "s", tools: [] }],
    ["a search of X", { type: "custom_tool_call", call_id: "xs_call_1", name: "x_keyword_search", input: "{}" }],
    ["an unfinished image", { type: "image_generation_call", id: "ig", status: "failed" }],
  ])("leave nothing of %s", (_title, item) => {
    expect(ofResponses([item])["messages"]).toEqual([hello, hello]);
    expect(ofResponses([item], messagesTranslation)["messages"]).toMatchObject([hello, hello]);
  });

  test.each<[JsonObject, string]>([
    [
      {
        type: "web_search_call",
        action: { query: "q", sources: [{ url: "https://a.test" }, { url: "https://b.test" }] },
      },
      'Pages found for "q":\nhttps://a.test\nhttps://b.test',
    ],
    [
      { type: "web_search_call", action: { type: "search", query: "q", queries: ["q", "r"] } },
      'A search of the web for "q", "r".',
    ],
    [
      { type: "web_search_call", action: { type: "search", sources: [{ type: "api", name: "oai-weather" }] } },
      'Pages found for "":\noai-weather',
    ],
    [
      { type: "web_search_call", status: "failed", action: { type: "open_page", url: "https://a.test" } },
      "A page of the web that was read: https://a.test. This has failed.",
    ],
    [
      { type: "web_search_call", action: { type: "find_in_page", url: "https://a.test", pattern: "x" } },
      'A page of the web in which "x" was looked for: https://a.test.',
    ],
    [
      { type: "file_search_call", queries: ["q"], results: [{ filename: "a.md", text: "Found." }] },
      'Found in files for ["q"]:\na.md:\nFound.',
    ],
    [
      { type: "code_interpreter_call", code: "1+1", outputs: [{ type: "logs", logs: "2" }] },
      "Code that was run:\n1+1\nIts output:\n2",
    ],
    [{ type: "mcp_call", name: "f", arguments: "{}", output: "done" }, "Result of f({}):\ndone"],
    [
      { type: "shell_call", call_id: "c", action: { commands: ["ls"] }, environment: { type: "container_reference" } },
      "Commands that were run:\nls",
    ],
  ])("%j is a text", (item, text) => {
    expect(ofResponses([item])["messages"]).toEqual([hello, said(text), hello]);
  });

  test("a shell in a container changes its own items alone, whatever their ids", () => {
    const environment = { type: "container_reference" };
    const shell = { type: "shell_call", action: { commands: ["ls"] }, environment };
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const output = { type: "function_call_output", call_id: "c", output: "done" };
    const { messages } = ofResponses([shell, { ...shell, call_id: "c" }, call, output]);
    const ran = "Commands that were run:\nls";
    expect(messages).toMatchObject([
      hello,
      { role: "assistant", content: `${ran}\n\n${ran}`, tool_calls: [{ id: "c" }] },
      { role: "tool", content: "done" },
      hello,
    ]);
  });

  test("a compaction of another is refused with the way out, unless the answers stand before it", () => {
    const compaction = { type: "compaction", id: "cmp", encrypted_content: "sealed" };
    const refusal = (): unknown => ofResponses([{ role: "user", content: "more" }, compaction]);
    expect(refusal).toThrow(GatewayError);
    expect(refusal).toThrow("input.2: only its maker can read this compaction");
    expect(ofResponses([{ role: "assistant", content: "hi" }, compaction])["messages"]).toEqual([
      hello,
      said("hi"),
      hello,
    ]);
  });
});

describe("blocks of tools that Anthropic has run", () => {
  const use = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } };
  const page = { type: "web_search_result", url: "https://a.test", title: "A", encrypted_content: "sealed" };
  const found = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [page] };

  test("keep their results as text", () => {
    const content = [use, found, { type: "text", text: "It is A." }];
    const text = "Pages found on the web:\nA: https://a.test\n\nIt is A.";
    expect(ofMessages(content)["messages"]).toEqual([hello, said(text), hello]);
    expect(JSON.stringify(ofMessages(content, responsesTranslation)["input"])).not.toContain("sealed");
    expect(ofMessages([use])["messages"]).toEqual([hello, hello]);
  });

  test.each<[JsonObject, string]>([
    [
      {
        type: "web_fetch_tool_result",
        content: {
          type: "web_fetch_result",
          url: "https://a.test",
          content: { type: "document", title: "A", source: { type: "text", media_type: "text/plain", data: "Page." } },
        },
      },
      "A page of the web:\nA: https://a.test\nPage.",
    ],
    [
      { type: "bash_code_execution_tool_result", content: { stdout: "out", stderr: "err", return_code: 2 } },
      "Result of code that was run:\nout\nerr\nexit code 2",
    ],
    [{ type: "mcp_tool_result", content: [{ type: "text", text: "done" }] }, "Result of a tool:\ndone"],
    [{ type: "web_search_tool_result", content: { type: "web_search_tool_result_error", error_code: "x" } }, ""],
  ])("%j", (block, text) => {
    expect(ofMessages([block])["messages"]).toEqual(text === "" ? [hello, hello] : [hello, said(text), hello]);
  });

  test("return unchanged to an upstream of their dialect", () => {
    expect(ofMessages([use, found], messagesTranslation)["messages"]).toMatchObject([
      hello,
      { content: [use, found] },
      hello,
    ]);
  });
});
