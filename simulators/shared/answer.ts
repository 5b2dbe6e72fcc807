import { tokensPerAttachment } from "./attachments.ts";
import type { Identity } from "./identity.ts";
import { lastText, type Prompt, type PromptMessage } from "./prompt.ts";
import { sayAnswer, sayReasoning, sayRefusal } from "./say.ts";
import { readScenario, type Scenario } from "./scenario.ts";
import { limitCalls, makeToolCalls, type ToolCall } from "./tool-calls.ts";
import { countWords, firstWords } from "./words.ts";

/** The reason and the text of a refusal. */
interface Refusal {
  readonly category: string;
  readonly text: string;
}

/** One choice of an answer. */
export interface Turn {
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** A refusal has no text: each provider has its own place for it. */
  readonly refusal: Refusal | null;
  readonly finish: "stop" | "length" | "tool_calls" | "refusal";
  /** The stop sequence that ended the text. */
  readonly stopSequence: string | null;
  /** Output tokens of text and tool calls. */
  readonly answerTokens: number;
  readonly reasoningTokens: number;
}

/** Token counts of a whole answer; the buckets are disjoint except that `cached` is part of `prompt`. */
export interface TokenCounts {
  readonly prompt: number;
  readonly cached: number;
  /** Text and tool calls, reasoning left out. */
  readonly answer: number;
  readonly reasoning: number;
}

export interface ModelAnswer {
  readonly turns: readonly Turn[];
  readonly tokens: TokenCounts;
  readonly scenario: Scenario;
}

const charactersPerToken = 4;
const tokensPerMessage = 3;
/** Longer system prompts count as cached. */
const cachedAboveCharacters = 4_096;
const mebibyte = 1_048_576;

/** Makes the answer of a request: the same prompt always gets the same one. */
export function answerPrompt(prompt: Prompt, identity: Identity, hugeMebibytes = 0): ModelAnswer {
  const scenario = readScenario(lastText(prompt.messages, "user"));
  const turns: Turn[] = [];
  for (let choice = 0; choice < prompt.choices; choice++) {
    const turn = makeTurn(prompt, scenario, identity, choice);
    turns.push(hugeMebibytes > 0 ? padTurn(turn, hugeMebibytes) : turn);
  }
  return { turns, tokens: countTokens(prompt, turns), scenario };
}

function makeTurn(prompt: Prompt, scenario: Scenario, identity: Identity, choice: number): Turn {
  const reasoning = sayReasoning(prompt);
  const reasoningTokens = countWords(reasoning);
  const tokensLeft = prompt.tokensMax - reasoningTokens;
  const plain = { reasoning, reasoningTokens, text: "", toolCalls: [], refusal: null, stopSequence: null };
  if (scenario.refusal !== null) {
    const text = sayRefusal(prompt.messages);
    const refusal = { category: scenario.refusal, text };
    return { ...plain, refusal, finish: "refusal", answerTokens: Math.min(countWords(text), tokensLeft) };
  }
  const calls = makeToolCalls(prompt, scenario, identity, choice);
  if (calls.length > 0) return { ...plain, ...callTurn(calls, scenario.aloud ? spokenBefore : "", tokensLeft) };
  return { ...plain, ...textTurn(sayAnswer(prompt, scenario, choice), prompt.stop, tokensLeft) };
}

const spokenBefore = "Let me look that up.";

/** The padding is a fault and counts no tokens, so a huge answer costs the same as the plain one. */
function padTurn(turn: Turn, mebibytes: number): Turn {
  return { ...turn, text: turn.text + "x".repeat(mebibytes * mebibyte) };
}

type TextTurn = Pick<Turn, "text" | "finish" | "stopSequence" | "answerTokens">;

function textTurn(whole: string, stops: readonly string[], tokensMax: number): TextTurn {
  const { text, stopSequence } = cutAtStop(whole, stops);
  const words = countWords(text);
  if (words <= tokensMax) return { text, stopSequence, finish: "stop", answerTokens: words };
  return { text: firstWords(text, tokensMax), stopSequence: null, finish: "length", answerTokens: tokensMax };
}

function cutAtStop(text: string, stops: readonly string[]): Pick<Turn, "text" | "stopSequence"> {
  const found = stops.filter((stop) => text.includes(stop));
  const [first] = found.toSorted((left, right) => text.indexOf(left) - text.indexOf(right));
  if (first === undefined) return { text, stopSequence: null };
  return { text: text.slice(0, text.indexOf(first)).trimEnd(), stopSequence: first };
}

type CallTurn = Pick<Turn, "text" | "toolCalls" | "finish" | "answerTokens">;

function callTurn(wanted: readonly ToolCall[], spoken: string, tokensMax: number): CallTurn {
  const text = firstWords(spoken, tokensMax);
  const textTokens = countWords(text);
  const { calls, tokens } = limitCalls(wanted, tokensMax - textTokens);
  const whole = calls.length === wanted.length && calls.at(-1) === wanted.at(-1);
  return { text, toolCalls: calls, finish: whole ? "tool_calls" : "length", answerTokens: textTokens + tokens };
}

function countTokens(prompt: Prompt, turns: readonly Turn[]): TokenCounts {
  return {
    ...countPrompt(prompt.messages),
    answer: sum(turns.map((turn) => turn.answerTokens)),
    reasoning: sum(turns.map((turn) => turn.reasoningTokens)),
  };
}

/** The input tokens of a conversation, and how many of them the provider had cached by itself. */
export function countPrompt(messages: readonly PromptMessage[]): { readonly prompt: number; readonly cached: number } {
  const characters = sum(messages.map((message) => message.text.length));
  const attachments = sum(messages.map((message) => message.attachments.length));
  const system = sum(messages.map((message) => (isSystem(message.role) ? message.text.length : 0)));
  return {
    prompt: Math.max(1, inputTokens(characters, messages.length, attachments)),
    cached: system > cachedAboveCharacters ? Math.ceil(system / charactersPerToken) : 0,
  };
}

function inputTokens(characters: number, messages: number, attachments: number): number {
  return Math.ceil(characters / charactersPerToken) + tokensPerMessage * messages + tokensPerAttachment * attachments;
}

function isSystem(role: string): boolean {
  return role === "system" || role === "developer";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
