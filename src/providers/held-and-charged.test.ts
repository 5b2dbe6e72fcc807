/** Every unit of a hosted tool that a request can hold is charged by some answer, and none is charged that none can hold. */
import { expect, test } from "bun:test";
import { type JsonObject, keysOf, priceKeys, priceUnits, type UsageBucket } from "../core/index.ts";
import type { UpstreamOperation } from "./provider.ts";
import { createProvider, type ProviderChoice } from "./registry.ts";

const toolUnits: ReadonlySet<UsageBucket> = new Set(
  priceKeys.filter((key) => priceUnits[key].isTool === true).map((key) => priceUnits[key].bucket),
);

/** A tool that can be held, and an answer of the same provider after it has run. */
interface Walk {
  kind: ProviderChoice["kind"];
  operation: "messages" | "responses";
  tool: JsonObject;
  answer: JsonObject;
}

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };

function ran(type: string, more: JsonObject = {}): JsonObject {
  return { usage, output: [{ type: `${type}_call`, action: { type: "search" }, ...more }] };
}

const openai = { kind: "openai", operation: "responses" } as const;
const xai = { kind: "xai", operation: "responses" } as const;
const shell = { type: "shell", environment: { type: "container_auto" } };
const preview = { type: "web_search_preview" };

const walks: readonly Walk[] = [
  { ...openai, tool: { type: "web_search" }, answer: ran("web_search") },
  { ...openai, tool: preview, answer: { ...ran("web_search"), tools: [preview] } },
  { ...openai, tool: { type: "file_search" }, answer: ran("file_search") },
  { ...openai, tool: { type: "code_interpreter" }, answer: ran("code_interpreter", { container_id: "cntr_1" }) },
  { ...openai, tool: shell, answer: ran("shell", { environment: { container_id: "cntr_1" } }) },
  { ...xai, tool: { type: "web_search" }, answer: ran("web_search") },
  { ...xai, tool: { type: "x_search" }, answer: ran("x_search") },
  { ...xai, tool: { type: "code_execution" }, answer: ran("code_execution") },
  { ...xai, tool: { type: "code_interpreter" }, answer: ran("code_interpreter") },
  { ...xai, tool: { type: "file_search" }, answer: ran("file_search") },
  { ...xai, tool: { type: "collections_search" }, answer: ran("collections_search") },
  {
    kind: "byteplus",
    operation: "responses",
    tool: { type: "web_search" },
    answer: { usage: { ...usage, tool_usage: { web_search: 1 } } },
  },
  {
    kind: "anthropic",
    operation: "messages",
    tool: { type: "web_search_20260318", name: "web_search" },
    answer: { usage: { ...usage, server_tool_use: { web_search_requests: 1 } } },
  },
];

function operationOf({ kind, operation }: Walk): UpstreamOperation {
  const found = createProvider({ kind, baseUrl: "https://upstream.example" }).operations[operation];
  if (found === undefined) throw new Error(`${kind} has no ${operation}`);
  return found;
}

const heldBy = (walk: Walk): UsageBucket[] =>
  keysOf(operationOf(walk).readTool?.(walk.tool, { tools: [walk.tool] }, "gpt-4o")?.units ?? {});

const chargedBy = (walk: Walk): UsageBucket[] =>
  keysOf(operationOf(walk).readUsage(walk.answer)?.usage ?? {}).filter((unit) => toolUnits.has(unit));

test.each(walks.map((walk) => [walk.kind, String(walk.tool["type"]), walk] as const))(
  "%s: an answer that has run %s charges the held units",
  (_kind, _type, walk) => {
    expect(heldBy(walk)).not.toEqual([]);
    expect(chargedBy(walk)).toEqual(heldBy(walk));
  },
);

test("every unit of a hosted tool is held by some request and charged by some answer", () => {
  expect(new Set(walks.flatMap(heldBy))).toEqual(new Set(toolUnits));
  expect(new Set(walks.flatMap(chargedBy))).toEqual(new Set(toolUnits));
});
