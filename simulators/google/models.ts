import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { compatErrors, nativeErrors } from "./errors.ts";

interface Model {
  readonly id: string;
  readonly title: string;
  readonly inputTokenLimit: number;
  readonly outputTokenLimit: number;
  readonly methods: readonly string[];
}

const generates = ["generateContent", "countTokens", "createCachedContent", "batchGenerateContent"];

const models: readonly Model[] = [
  {
    id: "gemini-2.5-flash",
    title: "Gemini 2.5 Flash",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-2.5-pro",
    title: "Gemini 2.5 Pro",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-2.5-flash-lite",
    title: "Gemini 2.5 Flash-Lite",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-3-flash-preview",
    title: "Gemini 3 Flash Preview",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-3.1-flash-lite",
    title: "Gemini 3.1 Flash-Lite",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-3.5-flash",
    title: "Gemini 3.5 Flash",
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    methods: generates,
  },
  {
    id: "gemini-embedding-001",
    title: "Gemini Embedding 001",
    inputTokenLimit: 2_048,
    outputTokenLimit: 1,
    methods: ["embedContent"],
  },
  imageModel("gemini-2.5-flash-image", "Gemini 2.5 Flash Image"),
  imageModel("gemini-3-pro-image", "Gemini 3 Pro Image"),
  imageModel("gemini-3.1-flash-image", "Gemini 3.1 Flash Image"),
  imageModel("gemini-nano-banana-2.1", "Nano Banana 2.1"),
];

function imageModel(id: string, title: string): Model {
  return { id, title, inputTokenLimit: 65_536, outputTokenLimit: 32_768, methods: generates };
}

function compatModel(model: Model) {
  return { id: `models/${model.id}`, object: "model", owned_by: "google", display_name: model.title };
}

function nativeModel(model: Model) {
  return {
    name: `models/${model.id}`,
    version: "001",
    displayName: model.title,
    description: `${model.title} (simulated)`,
    inputTokenLimit: model.inputTokenLimit,
    outputTokenLimit: model.outputTokenLimit,
    supportedGenerationMethods: model.methods,
    temperature: 1,
    topP: 0.95,
    topK: 64,
    maxTemperature: 2,
    thinking: model.methods === generates,
  };
}

const pageSizeDefault = 50;
const pageSizeMax = 1_000;

/** Pages of the native listing; the page token is opaque to callers (here the index of the first model). */
function listNative(call: Call): Answer {
  const wanted = Number(call.query.get("pageSize") ?? pageSizeDefault) || pageSizeDefault;
  const size = Math.min(Math.max(wanted, 1), pageSizeMax);
  const start = readPageToken(call.query.get("pageToken"));
  if (start === null) return errorAnswer(nativeErrors.forStatus(400));
  const page = models.slice(start, start + size).map(nativeModel);
  const end = start + size;
  return jsonAnswer({ models: page, ...(end < models.length ? { nextPageToken: pageToken(end) } : {}) });
}

function pageToken(index: number): string {
  return Buffer.from(`page-${index}`).toString("base64url");
}

function readPageToken(token: string | null): number | null {
  if (token === null || token === "") return 0;
  const index = /^page-(\d+)$/.exec(Buffer.from(token, "base64url").toString())?.[1];
  return index === undefined ? null : Number(index);
}

function findModel(call: Call): Model | undefined {
  return models.find((model) => model.id === call.parameters["id"]);
}

function retrieveCompat(call: Call): Answer {
  const model = findModel(call);
  const id = call.parameters["id"] ?? "";
  return model === undefined ? errorAnswer(compatErrors.modelNotFound(id)) : jsonAnswer(compatModel(model));
}

function retrieveNative(call: Call): Answer {
  const model = findModel(call);
  const id = call.parameters["id"] ?? "";
  return model === undefined ? errorAnswer(nativeErrors.modelNotFound(id)) : jsonAnswer(nativeModel(model));
}

const compatPath = "/google/v1beta/openai/models";
const nativePath = "/google/v1beta/models";
const listCompat = (): Answer => jsonAnswer({ object: "list", data: models.map(compatModel) });

/** Both listings: the compatible one with `models/` before each id and no `created`, the native one in pages. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: compatPath, errors: compatErrors, handle: listCompat },
  { method: "GET", path: `${compatPath}/:id`, errors: compatErrors, handle: retrieveCompat },
  { method: "GET", path: `${compatPath}/models/:id`, errors: compatErrors, handle: retrieveCompat },
  { method: "GET", path: nativePath, errors: nativeErrors, handle: listNative },
  { method: "GET", path: `${nativePath}/:id`, errors: nativeErrors, handle: retrieveNative },
];
