import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { mistralErrors } from "./errors.ts";

interface Model {
  readonly id: string;
  readonly contextTokens: number;
  readonly aliases: readonly string[];
  readonly vision?: boolean;
  readonly temperature?: number;
  /** The purpose of a model that does not chat. */
  readonly use?: "embedding" | "transcription" | "speech" | "moderation";
}

const models: readonly Model[] = [
  {
    id: "mistral-small-latest",
    contextTokens: 131_072,
    aliases: ["mistral-small-2506"],
    vision: true,
    temperature: 0.3,
  },
  {
    id: "mistral-medium-latest",
    contextTokens: 131_072,
    aliases: ["mistral-medium-2508"],
    vision: true,
    temperature: 0.3,
  },
  {
    id: "mistral-large-latest",
    contextTokens: 131_072,
    aliases: ["mistral-large-2411"],
    vision: false,
    temperature: 0.7,
  },
  {
    id: "ministral-8b-latest",
    contextTokens: 131_072,
    aliases: ["ministral-8b-2410"],
    vision: false,
    temperature: 0.3,
  },
  { id: "codestral-latest", contextTokens: 262_144, aliases: ["codestral-2508"], vision: false, temperature: 0.3 },
  {
    id: "magistral-small-latest",
    contextTokens: 131_072,
    aliases: ["magistral-small-2509"],
    vision: true,
    temperature: 0.7,
  },
  { id: "mistral-embed", contextTokens: 8_192, aliases: ["mistral-embed-2312"], use: "embedding" },
  { id: "codestral-embed", contextTokens: 8_192, aliases: ["codestral-embed-2505"], use: "embedding" },
  { id: "voxtral-mini-latest", contextTokens: 16_384, aliases: ["voxtral-mini-2602"], use: "transcription" },
  { id: "voxtral-mini-tts-latest", contextTokens: 4_096, aliases: ["voxtral-mini-tts-2603"], use: "speech" },
  { id: "mistral-moderation-latest", contextTokens: 8_192, aliases: ["mistral-moderation-2411"], use: "moderation" },
];

function describe(model: Model) {
  return {
    id: model.id,
    object: "model",
    created: 1_767_225_600,
    owned_by: "mistralai",
    capabilities: {
      completion_chat: model.use === undefined,
      completion_fim: model.id.startsWith("codestral"),
      function_calling: model.use === undefined,
      fine_tuning: false,
      vision: model.vision ?? false,
      classification: false,
      audio_transcription: model.use === "transcription",
      moderation: model.use === "moderation",
      audio_speech: model.use === "speech",
    },
    name: model.aliases[0] ?? model.id,
    description: `${model.id} (simulated)`,
    max_context_length: model.contextTokens,
    aliases: model.aliases,
    deprecation: null,
    default_model_temperature: model.temperature ?? null,
    type: "base",
  };
}

function retrieve(call: Call): Answer {
  const id = call.parameters["id"] ?? "";
  const found = models.find((model) => model.id === id || model.aliases.includes(id));
  return found === undefined ? errorAnswer(mistralErrors.modelNotFound(id)) : jsonAnswer(describe(found));
}

const list = (): Answer => jsonAnswer({ object: "list", data: models.map(describe) });

/** Models listing with capabilities and context length. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/mistral/v1/models", handle: list },
  { method: "GET", path: "/mistral/v1/models/:id", handle: retrieve },
];
