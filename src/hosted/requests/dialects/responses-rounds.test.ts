import { expect, test } from "bun:test";
import { responsesRounds } from "./responses-rounds.ts";

const address = "https://a.test/?d=secret";

test.each([
  { type: "message", role: "user", content: address },
  { role: "developer", content: [{ type: "input_text", text: address }] },
  { type: "function_call_output", call_id: "c", output: address },
  { type: "custom_tool_call_output", call_id: "c", output: address },
  { type: "file_search_call", id: "f", results: [{ text: address }] },
  { type: "web_search_call", id: "w", action: { type: "search", sources: [{ type: "url", url: address }] } },
])("an address in an item $type $role is given", (item) => {
  expect(JSON.stringify(responsesRounds.givenTexts({ input: [item] }))).toContain(address);
});

test.each([
  { role: "assistant", content: address },
  { type: "reasoning", summary: [{ text: address }] },
  { type: "function_call", call_id: "c", name: "f", arguments: address },
  { type: "function_call_output", call_id: address, output: "" },
  { type: "tool_search_call", arguments: { query: address } },
  { type: "mcp_call", arguments: address, output: address },
  { type: "mcp_approval_request", arguments: address },
  { type: "local_shell_call", action: { command: [address] } },
  { type: "shell_call_output", output: [{ stdout: address }] },
  { type: "apply_patch_call", operation: { diff: address } },
  { type: "file_search_call", queries: [address], results: [] },
  { type: "web_search_call", action: { type: "open_page", url: address } },
])("an address that the model has written in an item $type $role is not given", (item) => {
  expect(JSON.stringify(responsesRounds.givenTexts({ input: [item] }))).not.toContain(address);
});
