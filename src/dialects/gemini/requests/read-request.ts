import { type Effort, type JsonObject, objectOf } from "../../../core/index.ts";
import {
  checkToolCalls,
  type Conversation,
  invalid,
  member,
  type OutputFormat,
  type Part,
  readCount,
  readEach,
  readFlag,
  readObject,
  readOneOf,
  readText,
  readWord,
  type ReasoningOptions,
  type Turn,
} from "../../conversation/index.ts";
import { inCamel } from "../camel.ts";
import { geminiFields } from "../fields.ts";
import { OpenCalls } from "./open-calls.ts";
import { readListOf, readParts } from "./read-parts.ts";
import { readSchema } from "./read-schema.ts";
import { readTools, readToolChoice } from "./read-tools.ts";

const CONFIG = "generationConfig";

/** The members, flat, that have a member in the model. */
const known: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "contents",
  "systemInstruction",
  "tools",
  "serviceTier",
  "toolConfig.functionCallingConfig",
  ...[
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "presencePenalty",
    "frequencyPenalty",
    "seed",
    "stopSequences",
  ].map((name) => `${CONFIG}.${name}`),
  ...["responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema", "thinkingConfig"].map(
    (name) => `${CONFIG}.${name}`,
  ),
]);

/** Reads the body of a generateContent, with the model and whether it streams from its path. */
export function readGeminiRequest(sent: JsonObject): Conversation {
  const body = inCamel(sent);
  const config = inCamel(member(body, CONFIG, "", readObject) ?? {});
  const toolConfig = inCamel(member(body, "toolConfig", "", readObject) ?? {});
  const turns = [...readSystem(body["systemInstruction"]), ...readContents(body["contents"])];
  checkToolCalls(turns);
  const number = (name: string): number | undefined => member(config, name, CONFIG, readNumber);
  return {
    model: readWord(body["model"], "model"),
    turns,
    tools: member(body, "tools", "", readTools) ?? [],
    toolChoice: readToolChoice(toolConfig),
    parallelToolCalls: undefined,
    format: readFormat(config),
    sampling: {
      temperature: number("temperature"),
      topP: number("topP"),
      topK: number("topK"),
      frequencyPenalty: number("frequencyPenalty"),
      presencePenalty: number("presencePenalty"),
      seed: number("seed"),
    },
    stop: member(config, "stopSequences", CONFIG, (value, at) => readEach(value, at, readText)) ?? [],
    outputTokensMax: readLimit(number("maxOutputTokens")),
    reasoning: readReasoning(config),
    logprobs: undefined,
    serviceTier: readTier(body["serviceTier"]),
    verbosity: undefined,
    user: undefined,
    cache: undefined,
    stream: member(body, "stream", "", readFlag) ?? false,
    rest: { dialect: "gemini", table: geminiFields, body: flattened(body, config, toolConfig), known },
  };
}

const inner = (name: string, object: JsonObject) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [`${name}.${key}`, value]));

/** The body with the members of its two inner objects under their paths. */
function flattened(body: JsonObject, config: JsonObject, toolConfig: JsonObject): JsonObject {
  const { [CONFIG]: _, toolConfig: __, ...flat } = body;
  return { ...flat, ...inner(CONFIG, config), ...inner("toolConfig", toolConfig) };
}

function readSystem(value: unknown): Turn[] {
  const at = "systemInstruction";
  if (value === undefined || value === null) return [];
  const content = typeof value === "string" ? { parts: [{ text: value }] } : readObject(value, at);
  const parts = textsOnly(readParts(inCamel(content), at, new OpenCalls()));
  return parts.length === 0 ? [] : [{ role: "system", at, parts }];
}

function textsOnly(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.kind === "text") return part;
    throw invalid(part.at ?? "systemInstruction", "a system prompt holds text only");
  });
}

function readContents(value: unknown): Turn[] {
  const calls = new OpenCalls();
  const turns = readListOf(value, "contents").map((one, index) => readTurn(one, `contents.${index}`, calls));
  const some = turns.filter(({ parts }) => parts.length > 0);
  if (some.length === 0) throw invalid("contents", "must not be empty");
  return some;
}

function readTurn(value: unknown, at: string, calls: OpenCalls): Turn {
  const content = inCamel(readObject(value, at));
  const given = member(content, "role", at, readText) ?? "";
  const word = given === "" ? "user" : given;
  // The former role of results.
  const role = word === "function" ? "user" : readOneOf(word, `${at}.role`, ["user", "model", "system"]);
  const parts = readParts(content, at, calls);
  if (role === "system") return { role, at, parts: textsOnly(parts) };
  for (const part of parts) checkPlace(part, role);
  return { role: role === "model" ? "assistant" : role, at, parts: role === "model" ? joinTexts(parts) : parts };
}

function checkPlace({ kind, at }: Part, role: "user" | "model"): void {
  const isModels = kind === "tool-call" || kind === "reasoning";
  const isUsers = kind === "tool-result" || kind === "file" || kind === "audio";
  if ((isModels && role === "user") || (isUsers && role === "model")) {
    throw invalid(at ?? "contents", `has no place in a content of the ${role}`);
  }
}

/** SDKs keep the pieces of a streamed answer as parts. */
function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.kind === "text" && last?.kind === "text")
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}

/** A number, also as protobuf writes those of 64 bits. */
function readNumber(value: unknown, at: string): number {
  const number = typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw invalid(at, "must be a number");
  return number;
}

/** Zero is none, as everywhere in protobuf. */
function readLimit(limit: number | undefined): number | undefined {
  return limit === undefined || limit === 0 ? undefined : readCount(limit, `${CONFIG}.maxOutputTokens`, 1);
}

function readFormat(config: JsonObject): OutputFormat | undefined {
  const at = `${CONFIG}.responseMimeType`;
  const type = member(config, "responseMimeType", CONFIG, readText) ?? "";
  if (type === "" || type === "text/plain") return undefined;
  if (type !== "application/json")
    throw invalid(at, "must be text/plain or application/json for this model's provider");
  const { responseJsonSchema, _responseJsonSchema: former } = config;
  const own = objectOf(responseJsonSchema ?? former);
  const schema = own ?? member(config, "responseSchema", CONFIG, (value, path) => readSchema(readObject(value, path)));
  return schema === undefined ? { kind: "json", at } : { kind: "schema", at, schema };
}

const levels: Readonly<Record<string, Effort>> = {
  MINIMAL: "minimal",
  LOW: "low",
  MEDIUM: "medium",
  HIGH: "high",
  XHIGH: "xhigh",
};

/** A budget of -1 leaves it to the model, and 0 switches it off. Thoughts are shown if they are asked for. */
function readReasoning(config: JsonObject): ReasoningOptions | undefined {
  const at = `${CONFIG}.thinkingConfig`;
  const given = member(config, "thinkingConfig", CONFIG, readObject);
  if (given === undefined) return undefined;
  const thinking = inCamel(given);
  const summary = member(thinking, "includeThoughts", at, readFlag) === true ? "auto" : undefined;
  const budget = member(thinking, "thinkingBudget", at, readNumber);
  const effort = levels[(member(thinking, "thinkingLevel", at, readText) ?? "").toUpperCase()];
  if (budget === 0) return { mode: "off" };
  if (effort !== undefined) return { effort, summary };
  if (budget !== undefined && budget > 0) return { mode: "budget", budgetTokens: budget, summary };
  return budget === undefined && summary === undefined ? undefined : { mode: "adaptive", summary };
}

const tiers: Readonly<Record<string, string>> = { standard: "default", flex: "flex", priority: "priority" };

function readTier(tier: unknown): string | undefined {
  const word = typeof tier === "string" ? tier.toLowerCase() : "";
  return Object.hasOwn(tiers, word) ? tiers[word] : undefined;
}
