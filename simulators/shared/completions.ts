/** Legacy completions: each prompt is continued on its own, without a conversation. */
import { answerJson } from "./answer-json.ts";
import { answerPrompt, type ModelAnswer } from "./answer.ts";
import {
  badValue,
  isAnything,
  isFlag,
  isInteger,
  isNumber,
  isRecord,
  isText,
  isTextOrList,
  type Problem,
} from "./check.ts";
import { asObject, type JsonObject } from "./json.ts";
import { numberOr, type Prompt } from "./prompt.ts";
import { record, values } from "./shape.ts";
import { doneFrame, type Frame, jsonFrame } from "./sse.ts";
import { type Answer, type Call, jsonAnswer, type ProviderErrors, type Route } from "./types.ts";
import { textPieces } from "./words.ts";

/** The limit of a body that has none. */
const tokensMaxDefault = 16;

const fields = values({
  model: isText,
  prompt: isAnything,
  best_of: isInteger(1, 20),
  echo: isFlag,
  frequency_penalty: isNumber(-2, 2),
  logit_bias: isRecord,
  logprobs: isInteger(0, 5),
  max_tokens: isInteger(0, 100_000),
  n: isInteger(1, 128),
  presence_penalty: isNumber(-2, 2),
  seed: isAnything,
  stop: isTextOrList,
  stream: isFlag,
  stream_options: isRecord,
  suffix: isText,
  temperature: isNumber(0, 2),
  top_p: isNumber(0, 1),
  user: isText,
});

interface Talk {
  readonly call: Call;
  readonly body: JsonObject;
  readonly model: string;
  readonly answers: readonly ModelAnswer[];
}

/** `POST …/completions` of a provider; `strict`: unknown members are refused. */
export function completionRoute(path: string, errors: ProviderErrors, strict: boolean): Route {
  const shape = record(fields, { required: ["model", "prompt"], open: !strict });
  const check = (body: JsonObject): Problem | null => shape(body, "") ?? checkChoices(body);
  return {
    method: "POST",
    path,
    handle: (call) =>
      answerJson(call, { errors, check, answer: (body, model) => complete(startTalk(call, body, model)) }),
  };
}

function checkChoices(body: JsonObject): Problem | null {
  const isFewer = numberOr(body["best_of"], Infinity) < numberOr(body["n"], 1);
  return isFewer ? badValue("best_of", "best_of must be greater than n", body["best_of"]) : null;
}

function startTalk(call: Call, body: JsonObject, model: string): Talk {
  const answers = textsOf(body["prompt"]).map((text) => answerPrompt(promptOf(body, text), call.identity));
  return { call, body, model, answers };
}

/** The prompts; token ids stand for a text as they are. */
function textsOf(prompt: unknown): string[] {
  if (!Array.isArray(prompt)) return [String(prompt)];
  const isTokens = prompt.every((entry) => typeof entry === "number");
  return isTokens
    ? [prompt.join(" ")]
    : prompt.map((entry) => (Array.isArray(entry) ? entry.join(" ") : String(entry)));
}

function promptOf(body: JsonObject, text: string): Prompt {
  const { stop } = body;
  return {
    messages: [{ role: "user", text, attachments: [], calledTools: false, failed: false }],
    tools: [],
    toolChoice: { mode: "none" },
    parallelTools: false,
    format: { kind: "text" },
    tokensMax: numberOr(body["max_tokens"], tokensMaxDefault),
    stop: Array.isArray(stop) ? stop.map(String) : typeof stop === "string" ? [stop] : [],
    // All that are generated count, and the first of them are shown.
    choices: numberOr(body["best_of"], numberOr(body["n"], 1)),
    reasoning: false,
  };
}

function complete(talk: Talk): Answer {
  const { call, body } = talk;
  if (body["stream"] === true) return { kind: "stream", frames: framesOf(talk) };
  const choices = shownTurns(talk).map(({ turn }, index) => choiceOf(index, turn.text, turn.finish));
  return jsonAnswer({ ...headOf(talk), choices, ...(call.faults.noUsage ? {} : { usage: usageOf(talk) }) });
}

function shownTurns({ body, answers }: Talk) {
  const shown = numberOr(body["n"], 1);
  return answers.flatMap(({ turns }) => turns.slice(0, shown).map((turn) => ({ turn })));
}

function* framesOf(talk: Talk): Generator<Frame> {
  const { call, body } = talk;
  const showsUsage = asObject(body["stream_options"])["include_usage"] === true && !call.faults.noUsage;
  const chunk = (choices: readonly JsonObject[]): JsonObject => ({
    ...headOf(talk),
    choices,
    ...(showsUsage ? { usage: null } : {}),
  });
  for (const [index, { turn }] of shownTurns(talk).entries()) {
    for (const piece of textPieces(turn.text)) yield jsonFrame(chunk([choiceOf(index, piece, null)]));
    yield jsonFrame(chunk([choiceOf(index, "", turn.finish)]));
  }
  if (showsUsage) yield jsonFrame({ ...chunk([]), usage: usageOf(talk) });
  yield doneFrame;
}

function headOf({ call, model }: Talk): JsonObject {
  const { identity } = call;
  return {
    id: `cmpl-${identity.token("completion", 29)}`,
    object: "text_completion",
    created: identity.created,
    model,
  };
}

function choiceOf(index: number, text: string, finish_reason: string | null): JsonObject {
  return { text, index, logprobs: null, finish_reason };
}

function usageOf({ answers }: Talk): JsonObject {
  const prompt_tokens = answers.reduce((sum, { tokens }) => sum + tokens.prompt, 0);
  const completion_tokens = answers.reduce((sum, { tokens }) => sum + tokens.answer, 0);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
