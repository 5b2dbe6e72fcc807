import type { Problem } from "../shared/check.ts";
import { asArray, asObject, isGiven, type JsonObject } from "../shared/json.ts";
import { first } from "../shared/shape.ts";
import { outputTokensMax } from "./models.ts";
import { placedBlocks, type PlacedBlock } from "./messages-prompt.ts";
import { checkSchemas } from "./schema-rules.ts";
import { isGenuine, isThinking } from "./thinking.ts";

const breakpointsMax = 4;

/** Rules for a request beyond the shape of its single members. */
export function checkMessages(body: JsonObject, lean: boolean): Problem | null {
  const placed = placedBlocks(body);
  return (
    checkOrder(body) ??
    checkContents(body) ??
    first(placed, (one) => checkBlock(one, lean)) ??
    checkPairs(placed) ??
    checkTools(body) ??
    checkSchemas(body) ??
    checkBreakpoints(body, placed) ??
    checkThinking(body, placed) ??
    checkModel(body)
  );
}

function refusal(field: string, message: string): Problem {
  return { kind: "bad-value", field, message, value: null };
}

function placeOf({ message, index }: PlacedBlock): string {
  return message < 0 ? `system[${index}]` : `messages[${message}].content[${index}]`;
}

function checkOrder(body: JsonObject): Problem | null {
  const [opening] = asArray(body["messages"]).map(asObject);
  if (opening === undefined) return refusal("messages", "at least one message is required");
  return opening["role"] === "user" ? null : refusal("messages", 'first message must use the "user" role');
}

/** Only the last message may be empty, and only if it is the assistant's. */
function checkContents(body: JsonObject): Problem | null {
  const messages = asArray(body["messages"]).map(asObject);
  return first(messages.entries(), ([index, { role, content }]) => {
    const empty = content === "" || (Array.isArray(content) && content.length === 0);
    if (!empty || (role === "assistant" && index === messages.length - 1)) return null;
    return refusal(`messages[${index}]`, "all messages must have non-empty content");
  });
}

const assistantOnly = new Set(["tool_use", "thinking", "redacted_thinking"]);
const userOnly = new Set(["tool_result", "image", "search_result"]);

function checkBlock(placed: PlacedBlock, lean: boolean): Problem | null {
  const { role, block, message } = placed;
  const type = String(block["type"]);
  const field = placeOf(placed);
  if (message < 0) return null;
  if (assistantOnly.has(type) && role !== "assistant") {
    return refusal(field, `\`${type}\` blocks can only be in \`assistant\` messages`);
  }
  if (userOnly.has(type) && role !== "user")
    return refusal(field, `\`${type}\` blocks can only be in \`user\` messages`);
  if (isThinking(block) && !isGenuine(block)) {
    const member = type === "thinking" ? "signature" : "data";
    return refusal(field, `Invalid \`${member}\` in \`${type}\` block`);
  }
  return lean ? checkLeanBlock(placed, type) : null;
}

/** Members removed in the newer version. */
function checkLeanBlock(placed: PlacedBlock, type: string): Problem | null {
  const field = placeOf(placed);
  if (type === "document" && placed.role === "assistant") {
    return refusal(field, "`document` blocks can only be in `user` messages");
  }
  const cited = type === "text" && placed.role === "user" && asArray(placed.block["citations"]).length > 0;
  return cited ? refusal(`${field}.citations`, "citations can only be in `assistant` messages") : null;
}

interface MergedTurn {
  readonly role: string;
  readonly blocks: readonly PlacedBlock[];
}

/** Neighbouring messages of one role are one turn. */
function mergeTurns(placed: readonly PlacedBlock[]): MergedTurn[] {
  const turns: { role: string; blocks: PlacedBlock[] }[] = [];
  for (const one of placed) {
    const last = turns.at(-1);
    if (one.message < 0) continue;
    if (last?.role === one.role) last.blocks.push(one);
    else turns.push({ role: one.role, blocks: [one] });
  }
  return turns;
}

/** Calls and results pair: all results of a turn stand in the next one, before anything else. */
function checkPairs(placed: readonly PlacedBlock[]): Problem | null {
  const turns = mergeTurns(placed);
  const seen = new Set<unknown>();
  return first(turns.entries(), ([index, { blocks }]) => {
    const before = idsOf(turns[index - 1]?.blocks ?? [], "tool_use", "id");
    return (
      first(blocks, (one) => checkUse(one, seen)) ??
      first(blocks.entries(), ([place, one]) => checkResult(one, before, blocks[place - 1])) ??
      checkAnswered(blocks, turns[index + 1]?.blocks ?? [])
    );
  });
}

function idsOf(blocks: readonly PlacedBlock[], type: string, member: string): Set<unknown> {
  return new Set(blocks.flatMap(({ block }) => (block["type"] === type ? [block[member]] : [])));
}

function checkUse(one: PlacedBlock, seen: Set<unknown>): Problem | null {
  if (one.block["type"] !== "tool_use") return null;
  if (seen.has(one.block["id"])) return refusal(placeOf(one), "`tool_use` ids must be unique");
  seen.add(one.block["id"]);
  return null;
}

function checkResult(one: PlacedBlock, calls: Set<unknown>, previous: PlacedBlock | undefined): Problem | null {
  if (one.block["type"] !== "tool_result") return null;
  const id = String(one.block["tool_use_id"]);
  if (!calls.delete(id))
    return refusal(placeOf(one), `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`);
  if (previous === undefined || previous.block["type"] === "tool_result") return null;
  return refusal(placeOf(one), "`tool_result` blocks must come before all other content");
}

function checkAnswered(blocks: readonly PlacedBlock[], next: readonly PlacedBlock[]): Problem | null {
  const answered = idsOf(next, "tool_result", "tool_use_id");
  const lost = blocks.find(({ block }) => block["type"] === "tool_use" && !answered.has(block["id"]));
  if (lost === undefined) return null;
  const id = String(lost.block["id"]);
  const message = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}`;
  return refusal(`messages[${lost.message}]`, message);
}

function checkTools(body: JsonObject): Problem | null {
  const names = asArray(body["tools"]).map((tool) => asObject(tool)["name"]);
  if (new Set(names).size < names.length) return refusal("tools", "Tool names must be unique");
  const choice = asObject(body["tool_choice"]);
  if (isGiven(body["tool_choice"]) && choice["type"] !== "none" && names.length === 0) {
    return refusal("tool_choice", "may only be specified while providing `tools`");
  }
  if (choice["type"] !== "tool" || names.includes(choice["name"])) return null;
  return refusal("tool_choice", `Tool '${String(choice["name"])}' not found in provided tools`);
}

function checkBreakpoints(body: JsonObject, placed: readonly PlacedBlock[]): Problem | null {
  const holders = [...asArray(body["tools"]).map(asObject), ...placed.map(({ block }) => block), body];
  const found = holders.filter((holder) => isGiven(holder["cache_control"])).length;
  if (found <= breakpointsMax) return null;
  return refusal("cache_control", `A maximum of ${breakpointsMax} blocks may be provided. Found ${found}`);
}

/** Thinking excludes several other options. */
function checkThinking(body: JsonObject, placed: readonly PlacedBlock[]): Problem | null {
  const { type, budget_tokens: budget } = asObject(body["thinking"]);
  if (type !== "enabled" && type !== "adaptive") return null;
  const choice = asObject(body["tool_choice"])["type"];
  if (choice === "any" || choice === "tool") {
    return refusal("tool_choice", "Thinking may not be enabled when tool_choice forces tool use");
  }
  if (isGiven(body["temperature"]) && body["temperature"] !== 1) {
    return refusal("temperature", "may only be set to 1 when thinking is enabled");
  }
  if (type !== "enabled") return null;
  if (typeof body["max_tokens"] === "number" && Number(budget) >= body["max_tokens"]) {
    return refusal("max_tokens", "must be greater than `thinking.budget_tokens`");
  }
  return checkLoop(placed);
}

/** Within a tool loop the assistant's turn must begin with its thinking. */
function checkLoop(placed: readonly PlacedBlock[]): Problem | null {
  const turns = mergeTurns(placed);
  const answers = turns.at(-1)?.blocks.some(({ block }) => block["type"] === "tool_result") ?? false;
  const [opening] = turns.at(-2)?.blocks ?? [];
  if (!answers || opening === undefined || isThinking(opening.block)) return null;
  const found = String(opening.block["type"]);
  return refusal(`${placeOf(opening)}.type`, `Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\``);
}

/** Generations of models, as major and minor together: 4.5 is 45. */
const lastWithSampling = 46;
const firstWithSchemas = 45;
const firstWithoutPrefill = 46;
const firstWithoutBudget = 47;

function checkModel(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  const generation = generationOf(model);
  const most = outputTokensMax(model);
  if (most !== null && Number(body["max_tokens"]) > most) {
    const asked = String(body["max_tokens"]);
    return refusal(
      "max_tokens",
      `${asked} > ${most}, which is the maximum allowed number of output tokens for ${model}`,
    );
  }
  if (generation >= firstWithoutBudget && asObject(body["thinking"])["type"] === "enabled") {
    return refusal("thinking.type", '"enabled" is not supported for this model. Use "adaptive"');
  }
  return checkPrefill(body) ?? checkChoice(body) ?? checkOff(body) ?? checkFormat(body) ?? checkSampling(body);
}

/** On either endpoint. An answer that ends with a tool of the provider's has been paused, and goes on. */
export function checkPrefill({ model, messages }: JsonObject): Problem | null {
  const { role, content } = asObject(asArray(messages).at(-1));
  if (generationOf(String(model)) < firstWithoutPrefill || role !== "assistant") return null;
  const end = String(asObject(asArray(content).at(-1))["type"]);
  if (/^server_tool_use$|_tool_result$/.test(end)) return null;
  return refusal("messages", "This model does not support assistant message prefill");
}

/** These choose their tools themselves, whether they think or not. */
const neverForced = /^claude-((opus|sonnet)-5-5|fable-5-[12]|mythos)/;

/** On either endpoint, which name the choices differently. */
export function checkChoice({ model, tool_choice: choice }: JsonObject): Problem | null {
  const type = typeof choice === "string" ? choice : asObject(choice)["type"];
  if (!neverForced.test(String(model)) || !["any", "tool", "required", "function"].includes(String(type))) return null;
  return refusal("tool_choice.type", `"${String(type)}" is not supported for this model. Use "auto"`);
}

/** These can't be kept from thinking. */
const neverOff = /^claude-((opus|sonnet)-5-5|fable)/;

/** These need their thinking for more than a high effort. */
const effortNeedsThinking = /^claude-(opus-5|haiku-5-5)(?!-5)/;

function checkOff(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  if (asObject(body["thinking"])["type"] !== "disabled") return null;
  if (neverOff.test(model)) return refusal("thinking.type", '"disabled" is not supported for this model');
  const effort = String(asObject(body["output_config"])["effort"]);
  if (!effortNeedsThinking.test(model) || !["xhigh", "max"].includes(effort)) return null;
  return refusal("output_config.effort", `"${effort}" is not supported while thinking is disabled`);
}

/** Answers by a schema came with 4.5, and with Opus 4.1. */
function checkFormat(body: JsonObject): Problem | null {
  const model = String(body["model"]);
  if (!isGiven(asObject(body["output_config"])["format"])) return null;
  if (generationOf(model) >= firstWithSchemas || model.startsWith("claude-opus-4-1")) return null;
  return refusal("output_config.format", "is not supported for this model");
}

/** Newer models take the defaults alone, on either endpoint. */
export function checkSampling(body: JsonObject): Problem | null {
  if (generationOf(String(body["model"])) <= lastWithSampling) return null;
  const { temperature, top_p: topP, top_k: topK } = body;
  if (isGiven(topK)) return refusal("top_k", "is not supported for this model");
  if (isGiven(temperature) && temperature !== 1) return refusal("temperature", "is not supported for this model");
  return isGiven(topP) && Number(topP) < 0.99 ? refusal("top_p", "is not supported for this model") : null;
}

/** 0 for names without a generation. */
function generationOf(model: string): number {
  const found = /^claude-[a-z]+-(\d)(?:-(\d)(?!\d))?/.exec(model);
  return found === null ? 0 : Number(found[1]) * 10 + Number(found[2] ?? 0);
}
