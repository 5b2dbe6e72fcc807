import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { nativeErrors } from "./errors.ts";
import { checkVersion } from "./versions.ts";

interface Model {
  readonly id: string;
  readonly title: string;
  readonly created: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly line: "haiku" | "sonnet" | "opus";
}

const models: readonly Model[] = [
  {
    id: "claude-opus-4-8",
    title: "Claude Opus 4.8",
    created: "2026-06-02",
    inputTokens: 1_000_000,
    outputTokens: 128_000,
    line: "opus",
  },
  {
    id: "claude-sonnet-5",
    title: "Claude Sonnet 5",
    created: "2026-06-30",
    inputTokens: 1_000_000,
    outputTokens: 128_000,
    line: "sonnet",
  },
  {
    id: "claude-opus-4-6",
    title: "Claude Opus 4.6",
    created: "2026-02-04",
    inputTokens: 1_000_000,
    outputTokens: 128_000,
    line: "opus",
  },
  {
    id: "claude-sonnet-4-6",
    title: "Claude Sonnet 4.6",
    created: "2026-02-17",
    inputTokens: 1_000_000,
    outputTokens: 64_000,
    line: "sonnet",
  },
  {
    id: "claude-haiku-4-5",
    title: "Claude Haiku 4.5",
    created: "2025-10-15",
    inputTokens: 200_000,
    outputTokens: 64_000,
    line: "haiku",
  },
];

function describe(model: Model) {
  const supported = { supported: true };
  return {
    type: "model",
    id: model.id,
    display_name: model.title,
    created_at: `${model.created}T00:00:00Z`,
    max_input_tokens: model.inputTokens,
    max_tokens: model.outputTokens,
    capabilities: {
      batch: supported,
      citations: supported,
      image_input: supported,
      pdf_input: supported,
      thinking: supported,
    },
    lifecycle: "active",
    deprecated_at: null,
    retires_at: null,
    line: model.line,
  };
}

const limitDefault = 20;
const limitMax = 1_000;

/** The native API refuses a request without a version. */
function versioned(handle: (call: Call) => Answer): (call: Call) => Answer {
  return (call) => {
    const problem = checkVersion(call);
    return problem === null ? handle(call) : errorAnswer(nativeErrors.forProblem(problem));
  };
}

/** One page, newest first, after or before a given id. */
function list(call: Call): Answer {
  const limit = Number(call.query.get("limit") ?? limitDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    const expected = `an integer from 1 to ${limitMax}`;
    return errorAnswer(nativeErrors.forProblem({ kind: "wrong-type", field: "limit", expected, value: limit }));
  }
  const start = indexAfter(call.query.get("after_id"));
  const end = indexOf(call.query.get("before_id")) ?? models.length;
  const before = call.query.get("before_id") !== null;
  const from = before ? Math.max(start, end - limit) : start;
  const page = models.slice(from, Math.min(end, from + limit)).map(describe);
  const more = before ? from > 0 : from + page.length < models.length;
  return jsonAnswer({ data: page, first_id: page[0]?.id ?? null, last_id: page.at(-1)?.id ?? null, has_more: more });
}

function indexAfter(id: string | null): number {
  const index = indexOf(id);
  return index === null ? 0 : index + 1;
}

function indexOf(id: string | null): number | null {
  const index = models.findIndex((model) => model.id === id);
  return index < 0 ? null : index;
}

function retrieve(call: Call): Answer {
  const id = call.parameters["id"] ?? "";
  const found = models.find((model) => model.id === id);
  return found === undefined ? errorAnswer(nativeErrors.modelNotFound(id)) : jsonAnswer(describe(found));
}

/** The native models listing, in pages. */
export const modelRoutes: readonly Route[] = [
  { method: "GET", path: "/anthropic/v1/models", handle: versioned(list) },
  { method: "GET", path: "/anthropic/v1/models/:id", handle: versioned(retrieve) },
];

/** The most output tokens of a listed model; null for others. */
export function outputTokensMax(id: string): number | null {
  return models.find((model) => model.id === id)?.outputTokens ?? null;
}
