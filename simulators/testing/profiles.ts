import { asObject } from "../shared/json.ts";
import type { SimulatorName } from "../index.ts";

/** The contract suite's description of a provider. `provider facts` gives the reason for a false capability. */
export interface Profile {
  readonly name: SimulatorName;
  /** Behind the base URL. */
  readonly chatPath: string;
  /** Null if the provider lists no models. */
  readonly modelsPath: string | null;
  readonly listHeaders?: { readonly [name: string]: string };
  readonly model: string;
  /** Takes `stream_options`; otherwise the usage comes unasked. */
  readonly usageByOption: boolean;
  /** Takes `response_format` with a schema. */
  readonly jsonSchema: boolean;
  readonly choices: boolean;
  /** Streamed tool calls have an `index` to join fragments by. */
  readonly toolIndex: boolean;
  /** Finish reason of a streamed tool call. */
  readonly toolFinish: string;
  readonly statuses: {
    readonly keyMissing: number;
    readonly keyInvalid: number;
    readonly fieldMissing: number;
    readonly modelUnknown: number;
  };
  /** Reads the message out of an error body. */
  readonly errorMessage: (body: unknown) => unknown;
  /** Ids of a listing's body. */
  readonly listedIds: (body: unknown) => string[];
}

function wrappedMessage(body: unknown): unknown {
  return asObject(asObject(body)["error"])["message"];
}

/** Mistral: flat, a text, or a list of details. */
function flatMessage(body: unknown): unknown {
  const { message, detail } = asObject(body);
  if (typeof message === "string") return message;
  return Array.isArray(detail) ? asObject(detail[0])["msg"] : detail;
}

function dataIds(body: unknown): string[] {
  const { data } = asObject(body);
  return Array.isArray(data) ? data.map((entry) => String(asObject(entry)["id"])) : [];
}

const usual = {
  chatPath: "/chat/completions",
  modelsPath: "/models",
  usageByOption: true,
  jsonSchema: true,
  choices: true,
  toolIndex: true,
  toolFinish: "tool_calls",
  errorMessage: wrappedMessage,
  listedIds: dataIds,
} satisfies Partial<Profile>;

export const profiles: readonly Profile[] = [
  {
    ...usual,
    name: "openai",
    model: "gpt-4o-mini",
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 400, modelUnknown: 404 },
  },
  {
    ...usual,
    name: "google",
    chatPath: "/v1beta/openai/chat/completions",
    modelsPath: "/v1beta/openai/models",
    model: "gemini-2.5-flash",
    toolIndex: false,
    toolFinish: "stop",
    statuses: { keyMissing: 400, keyInvalid: 400, fieldMissing: 400, modelUnknown: 404 },
    errorMessage: (body) => (Array.isArray(body) ? wrappedMessage(body[0]) : undefined),
  },
  {
    ...usual,
    name: "xai",
    model: "grok-next",
    statuses: { keyMissing: 401, keyInvalid: 400, fieldMissing: 422, modelUnknown: 404 },
    errorMessage: (body) => asObject(body)["error"],
  },
  {
    ...usual,
    name: "deepseek",
    model: "deepseek-chat",
    jsonSchema: false,
    choices: false,
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 422, modelUnknown: 400 },
  },
  {
    ...usual,
    name: "anthropic",
    chatPath: "/v1/chat/completions",
    modelsPath: "/v1/models",
    listHeaders: { "anthropic-version": "2023-06-01" },
    model: "claude-haiku-4-5",
    jsonSchema: false,
    choices: false,
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 400, modelUnknown: 404 },
  },
  {
    ...usual,
    name: "mistral",
    model: "mistral-small-latest",
    usageByOption: false,
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 422, modelUnknown: 400 },
    errorMessage: flatMessage,
  },
  {
    ...usual,
    name: "byteplus",
    modelsPath: null,
    model: "seed-1-6-250915",
    choices: false,
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 400, modelUnknown: 404 },
  },
  {
    ...usual,
    name: "openai-compatible",
    model: "local-small",
    statuses: { keyMissing: 401, keyInvalid: 401, fieldMissing: 400, modelUnknown: 404 },
  },
];
