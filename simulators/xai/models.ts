import type { TokenCounts } from "../shared/answer.ts";
import type { EffortRows } from "../shared/limits.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { xaiErrors } from "./errors.ts";

/** Prices in 1/100 US cent per million tokens, as the listing gives them; the same number is ticks per token. */
interface LanguageModel {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly created: number;
  readonly promptPrice: number;
  readonly cachedPrice: number;
  readonly completionPrice: number;
}

function model(
  id: string,
  created: string,
  prices: readonly [number, number, number],
  ...aliases: string[]
): LanguageModel {
  const [promptPrice, cachedPrice, completionPrice] = prices;
  return { id, aliases, created: Date.parse(created) / 1_000, promptPrice, cachedPrice, completionPrice };
}

const models: readonly LanguageModel[] = [
  model("grok-4.6", "2026-08-03", [20_000, 5_000, 60_000], "grok-4.6-latest"),
  model("grok-4.3", "2026-04-30", [12_500, 2_000, 25_000], "grok-4.3-latest"),
  model("grok-4-0709", "2025-07-09", [30_000, 7_500, 150_000], "grok-4", "grok-4-latest"),
  model("grok-4-1-fast-reasoning", "2025-11-19", [2_000, 500, 5_000], "grok-4-1-fast"),
  model("grok-4-1-fast-non-reasoning", "2025-11-19", [2_000, 500, 5_000]),
  model("grok-code-fast-1", "2025-08-25", [2_000, 200, 15_000], "grok-code-fast"),
  model("grok-3", "2025-04-05", [30_000, 7_500, 150_000], "grok-3-latest"),
  model("grok-3-mini", "2025-04-05", [3_000, 750, 5_000], "grok-3-mini-latest"),
];

/** Most of the older models think as much as they like, or not at all; the newer ones can't be kept from it. */
export const effortRows: EffortRows = [
  [/^grok-4\.[67]/, ["low", "medium", "high", "xhigh"]],
  [/^grok-4\.5/, ["low", "medium", "high"]],
  [/^grok-3-mini/, ["low", "high"]],
  [/^grok-(2|3|4$|4-|4\.20(?!-multi)|code)/, []],
  [/^grok-4\.3/, ["none", "low", "medium", "high"]],
];

const cheapest = model("grok", "2025-01-01", [2_000, 500, 5_000]);

/** The model behind an id or alias; ids that are not listed are priced like the cheapest one. */
function languageModel(id: string): LanguageModel {
  return models.find((one) => one.id === id || one.aliases.includes(id)) ?? cheapest;
}

/** The cost of an answer in ticks (1e-10 US dollar). */
export function costTicks(tokens: TokenCounts, modelId: string): number {
  const { promptPrice, cachedPrice, completionPrice } = languageModel(modelId);
  const prompt = (tokens.prompt - tokens.cached) * promptPrice + tokens.cached * cachedPrice;
  return prompt + (tokens.answer + tokens.reasoning) * completionPrice;
}

interface ImageModel {
  readonly id: string;
  readonly created: number;
  /** US cents an image. */
  readonly price: number;
}

const imageModels: readonly ImageModel[] = [
  { id: "grok-imagine-image", created: 1_769_558_400, price: 2 },
  { id: "grok-imagine-image-pro", created: 1_769_558_400, price: 7 },
];

const videoModels = [
  { id: "grok-imagine-video", created: 1_769_558_400 },
  { id: "grok-imagine-video-1.5", created: 1_780_099_200 },
];

const ticksPerCent = 100_000_000;
/** A tenth of a cent or so for each image that comes in, whatever the model. */
const ticksPerSource = 20_000_000;

/** The cost of images in ticks; unlisted models are priced like the first one. */
export function imageTicks(modelId: string, made: number, sources: number): number {
  const price = imageModels.find(({ id }) => id === modelId)?.price ?? 2;
  return made * price * ticksPerCent + sources * ticksPerSource;
}

function listed(one: Pick<LanguageModel, "id" | "created">) {
  return { id: one.id, object: "model", created: one.created, owned_by: "xai" };
}

function describedImageModel({ id, created, price }: ImageModel) {
  return {
    ...listed({ id, created }),
    fingerprint: "fp_simulated",
    version: "1.0.0",
    aliases: [],
    max_prompt_length: 8_000,
    input_modalities: ["text", "image"],
    output_modalities: ["image"],
    image_price: price,
  };
}

function listAll(): Answer {
  return jsonAnswer({ object: "list", data: [...models, ...imageModels, ...videoModels].map(listed) });
}

function retrieveAny(call: Call): Answer {
  const found = [...imageModels, ...videoModels].find(({ id }) => id === call.parameters["id"]);
  return found === undefined ? retrieve(listed)(call) : jsonAnswer(listed(found));
}

function described(one: LanguageModel) {
  return {
    id: one.id,
    fingerprint: "fp_simulated",
    object: "model",
    version: "1.0.0",
    created: one.created,
    owned_by: "xai",
    aliases: one.aliases,
    input_modalities: ["text", "image"],
    output_modalities: ["text"],
    prompt_text_token_price: one.promptPrice,
    cached_prompt_text_token_price: one.cachedPrice,
    prompt_image_token_price: one.promptPrice,
    completion_text_token_price: one.completionPrice,
    search_price: 0,
  };
}

function retrieve(describe: (one: LanguageModel) => unknown): (call: Call) => Answer {
  return (call) => {
    const id = call.parameters["id"] ?? "";
    const found = languageModel(id);
    return found === cheapest ? errorAnswer(xaiErrors.modelNotFound(id)) : jsonAnswer(describe(found));
  };
}

/** The plain listing (dated ids, no aliases), and those of language and image models with prices. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/xai/v1/models", handle: listAll },
  { method: "GET", path: "/xai/v1/models/:id", handle: retrieveAny },
  { method: "GET", path: "/xai/v1/language-models", handle: () => jsonAnswer({ models: models.map(described) }) },
  { method: "GET", path: "/xai/v1/language-models/:id", handle: retrieve(described) },
  {
    method: "GET",
    path: "/xai/v1/image-generation-models",
    handle: () => jsonAnswer({ models: imageModels.map(describedImageModel) }),
  },
];
