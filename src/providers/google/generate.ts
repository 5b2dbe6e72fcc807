import { type JsonObject, listOf, objectOf, objectsOf, type UsageBucket } from "../../core/index.ts";
import { lostCallSignature } from "../facts/google.ts";
import { factRows, factsFrom } from "../facts/index.ts";
import type { RequestedExtras, UpstreamOperation } from "../provider.ts";
import { counted, free, runsMax, toolsOf } from "../shared/tools/hosted-tools.ts";
import { askedTier } from "../shared/terms.ts";
import type { ToolPurchase, ToolReader } from "../tool-purchase.ts";
import { readGenerateUsage } from "./generate-usage.ts";
import { mediaOf } from "./modalities.ts";

/** Without the prefix that the listing has. */
const nameOf = (model: string): string => encodeURIComponent(model.replace(/^models\//, ""));

/** The models that think; their streams contain a summary at most. */
const thinks = (model: string): boolean => !/^(?:models\/)?gemini-(?:1|2\.0)/.test(model);

/** The generation that counts the tokens of its thoughts; later ones have levels. */
const hasBudget = /gemini-2/;

/** The models that are billed once for an answer with searches. */
const billsAnswers = /^(?:models\/)?gemini-(?:1|2)/;

/** A search is billed; a tool that runs at Google without a fee adds input. The client runs the others. */
const tools: Readonly<Record<string, (model: string) => ToolPurchase>> = {
  functionDeclarations: free,
  computerUse: free,
  urlContext: free,
  codeExecution: free,
  googleSearch: searches,
  googleSearchRetrieval: searches,
};

/** No field limits the searches. */
function searches(model: string): ToolPurchase {
  return { units: counted({ webSearches: billsAnswers.test(model) ? 1 : runsMax(undefined) }) };
}

/** A tool is an object with one member of its name, in either spelling. */
const readTool: ToolReader = (tool, _body, model) => {
  const [name, ...others] = membersOf(tool);
  if (name === undefined) return {};
  return others.length === 0 && Object.hasOwn(tools, name) ? tools[name]?.(model) : undefined;
};

function membersOf(tool: JsonObject): string[] {
  const given = Object.keys(tool).filter((name) => tool[name] !== undefined && tool[name] !== null);
  return given.map(camelOf);
}

const camelOf = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * One object in place of a list, or several tools in one object: they are written apart, so that each has its price. An object
 * without any is left out.
 */
function hasTiedTools(body: JsonObject): boolean {
  const { tools: listed } = body;
  if (listed === undefined || listed === null) return false;
  return !Array.isArray(listed) || toolsOf(body).some((tool) => membersOf(tool).length !== 1);
}

/**
 * Whether Google may read another body than the gateway has: a member in both spellings, one that is null, which readers of protobuf
 * skip in favour of an earlier one of its name, or a number for the word of a tier. The translation writes each member once.
 */
function isAmbiguous(body: JsonObject): boolean {
  const config = objectOf(body["generationConfig"] ?? body["generation_config"]) ?? {};
  if (spellsTwice(body) || spellsTwice(config) || hasNumberedTier(body)) return true;
  for (const name in config) if (!limits.has(name) && hasNull(config[name])) return true;
  // At the top no member stands twice.
  for (const name in body) if (!configs.has(name) && body[name] !== null && hasNull(body[name])) return true;
  return false;
}

const configs: ReadonlySet<string> = new Set(["generationConfig", "generation_config"]);
/** A limit of null is replaced in the bytes. */
const limits: ReadonlySet<string> = new Set(["maxOutputTokens", "max_output_tokens"]);

function spellsTwice(object: JsonObject): boolean {
  for (const name in object) if (name.includes("_") && Object.hasOwn(object, camelOf(name))) return true;
  return false;
}

const tierIn = (body: JsonObject): unknown => body["serviceTier"] ?? body["service_tier"];

/** In protobuf's JSON a word may be its number: the translation leaves out such a tier. */
function hasNumberedTier(body: JsonObject): boolean {
  const tier = tierIn(body);
  return tier !== undefined && tier !== null && typeof tier !== "string";
}

/** Arguments, results and schemas are the caller's own objects, of any names and values. */
const opaque = /^(?:args|response|function_?declarations|_?response_?(?:json_?)?schema)$/i;

function hasNull(value: unknown): boolean {
  if (Array.isArray(value)) return listOf(value).some(hasNull);
  const object = objectOf(value);
  for (const name in object) {
    const member = object[name];
    if (typeof member === "object" && !opaque.test(name) && hasNull(member)) return true;
  }
  return value === null;
}

const resultNames = ["functionResponse", "function_response"] as const;
const callNames = ["functionCall", "function_call"] as const;
const signatureNames = ["thoughtSignature", "thought_signature"] as const;

const hasAny = (part: JsonObject, names: readonly string[]): boolean =>
  names.some((name) => part[name] !== undefined && part[name] !== null);

/**
 * Whether a step of the loop of calls at the end lacks its signature, as those that another provider has made do: the translation
 * puts Google's placeholder there.
 */
function lacksSignature({ contents }: JsonObject): boolean {
  const turns = objectsOf(contents);
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    const { role, parts } = turns[index] ?? {};
    const all = objectsOf(parts);
    if (role !== "model" && all.some((part) => !hasAny(part, resultNames))) return false;
    const call = role === "model" ? all.find((part) => hasAny(part, callNames)) : undefined;
    if (call !== undefined && !hasAny(call, signatureNames)) return true;
  }
  return false;
}

const bucketOf = { IMAGE: "outputImage", AUDIO: "outputAudio", VIDEO: "outputVideo" } as const;

function extras(body: JsonObject, model: string): RequestedExtras | undefined {
  const tier = tierIn(body);
  const word = typeof tier === "string" ? tier.toLowerCase() : undefined;
  const terms = word === "unspecified" ? undefined : askedTier(word);
  const media = madeBy(body, model);
  if (terms === undefined && media.length === 0) return undefined;
  return { ...(terms && { terms }), ...(media.length > 0 && { outputBuckets: media }) };
}

/** The buckets of an answer that is more than text: by the request, or by the model. A number may be any modality's. */
function madeBy(body: JsonObject, model: string): UsageBucket[] {
  const config = objectOf(body["generationConfig"] ?? body["generation_config"]) ?? {};
  const wished = config["responseModalities"] ?? config["response_modalities"] ?? [];
  const asked = Array.isArray(wished) ? listOf(wished) : [wished];
  if (asked.length === 0) return mediaOf(model).map((modality) => bucketOf[modality]);
  const all: ReadonlySet<unknown> = new Set([...mediaOf(model), ...asked.map((one) => String(one).toUpperCase())]);
  const isAny = asked.some((one) => typeof one !== "string");
  const made = (["IMAGE", "AUDIO", "VIDEO"] as const).filter((modality) => isAny || all.has(modality));
  return made.map((modality) => bucketOf[modality]);
}

/** Google's own API: everything that its compatible layer has no place for (`docs/wire/gemini.md`). */
export const generate: UpstreamOperation = {
  dialect: "gemini",
  path: "/v1beta/models/",
  subpath: (model, streamed) => `${nameOf(model)}:${streamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  edits: () => [],
  takesKeysOnce: true,
  needsTranslation: (body, model) =>
    isAmbiguous(body) || hasTiedTools(body) || (!hasBudget.test(model) && lacksSignature(body)),
  extras,
  readTool,
  facts: factsFrom(factRows.google, "gemini", (model) => ({
    lostCallSignature,
    ...(hasBudget.test(model) && { thinkingBudgets: true }),
    ...(mediaOf(model).includes("IMAGE") && { drawsPictures: true }),
  })),
  outputLimit: {
    field: "maxOutputTokens",
    within: ["generationConfig", "generation_config"],
    replaces: ["max_output_tokens"],
    min: 1,
    // Pictures and sound are no text that a stream could be measured by.
    hidesThought: (model) => thinks(model) || mediaOf(model).length > 0,
  },
  readUsage: readGenerateUsage,
  isFailure: ({ error, candidates, promptFeedback }) =>
    (error !== undefined && error !== null) || (candidates === undefined && promptFeedback === undefined),
};

/** Counts the input tokens that a call would have, free of charge. */
export const countTokens: UpstreamOperation = {
  dialect: "gemini",
  path: "/v1beta/models/",
  subpath: (model) => `${nameOf(model)}:countTokens`,
  edits: () => [],
  readUsage: () => undefined,
  isFailure: ({ error }) => error !== undefined && error !== null,
};
