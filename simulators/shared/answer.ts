import type { Identity } from "./identity.ts";
import { jsonInstance } from "./json-instance.ts";
import type { Prompt, PromptMessage, PromptTool } from "./prompt.ts";

/** One function call that the simulated model makes. */
export interface ToolCall {
  /** Different for each call of each choice; a provider builds its own id from it. */
  readonly label: string;
  readonly name: string;
  /** JSON text; cut short where the token limit ends it. */
  readonly arguments: string;
}

/** One choice of an answer. */
export interface Turn {
  readonly reasoning: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls";
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
}

const charactersPerToken = 4;
const tokensPerMessage = 3;
/** Longer system prompts count as cached. */
const cachedAboveCharacters = 4_096;
const quotedWordsMax = 60;
const wordsMax = 1_000_000;
const mebibyte = 1_048_576;

const vocabulary = [
  "amber",
  "bridge",
  "candle",
  "dawn",
  "ember",
  "forest",
  "garden",
  "harbour",
  "island",
  "juniper",
  "kettle",
  "lantern",
  "meadow",
  "north",
  "orchard",
  "pebble",
  "quiet",
  "river",
  "silver",
  "timber",
  "umbrella",
  "valley",
  "winter",
  "yellow",
];

/** Makes the answer of a request: the same prompt always gets the same one. */
export function answerPrompt(prompt: Prompt, identity: Identity, hugeMebibytes = 0): ModelAnswer {
  const turns: Turn[] = [];
  for (let choice = 0; choice < prompt.choices; choice++) {
    const turn = makeTurn(prompt, identity, choice);
    turns.push(hugeMebibytes > 0 ? padTurn(turn, hugeMebibytes) : turn);
  }
  return { turns, tokens: countTokens(prompt, turns) };
}

/** Splits text into the pieces of a stream: one word each, the white space before it kept. */
export function textPieces(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+/g) ?? [];
}

function makeTurn(prompt: Prompt, identity: Identity, choice: number): Turn {
  const reasoning = makeReasoning(prompt);
  const reasoningTokens = countWords(reasoning);
  const tokensLeft = prompt.tokensMax - reasoningTokens;
  const calls = makeToolCalls(prompt, identity, choice);
  const answer =
    calls.length > 0 ? limitCalls(calls, tokensLeft) : limitText(makeText(prompt, choice), prompt, tokensLeft);
  return { reasoning, reasoningTokens, ...answer };
}

type TurnAnswer = Omit<Turn, "reasoning" | "reasoningTokens">;

/** The padding is a fault and counts no tokens, so that a huge answer costs what the plain one costs. */
function padTurn(turn: Turn, mebibytes: number): Turn {
  return { ...turn, text: turn.text + "x".repeat(mebibytes * mebibyte) };
}

/** At most half of the limit is spent on reasoning, so that some answer is left. */
function makeReasoning(prompt: Prompt): string {
  if (!prompt.reasoning) return "";
  const thought = `The request has ${prompt.messages.length} messages so I consider the last one and then answer.`;
  return firstWords(thought, Math.floor(prompt.tokensMax / 2));
}

function makeText(prompt: Prompt, choice: number): string {
  const last = prompt.messages.at(-1);
  if (last?.role === "tool") return `The tool answered: ${last.text}`;
  const asked = lastUserText(prompt.messages);
  if (prompt.format.kind === "json") return jsonText(prompt.format.schema, asked);
  const wanted = /\bwords:(\d+)\b/.exec(asked)?.[1];
  if (wanted !== undefined) return exactWords(Math.min(Number(wanted), wordsMax), choice);
  const opening = choice === 0 ? "You said:" : `Choice ${choice + 1}, you said:`;
  return `${opening} ${firstWords(asked, quotedWordsMax) || "nothing"}. That is all I have to say.`;
}

function lastUserText(messages: readonly PromptMessage[]): string {
  return messages.findLast((message) => message.role === "user")?.text ?? "";
}

/** JSON with a space between its parts, so that it streams and counts in more than one word. */
function jsonText(schema: unknown, asked: string): string {
  const value = schema === null ? { answer: firstWords(asked, quotedWordsMax) } : jsonInstance(schema);
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
}

function exactWords(count: number, choice: number): string {
  const words: string[] = [];
  for (let index = 0; index < count; index++) words.push(vocabulary[(index + choice) % vocabulary.length] ?? "word");
  return words.join(" ");
}

function limitText(text: string, prompt: Prompt, tokensLeft: number): TurnAnswer {
  const stopped = cutAtStop(text, prompt.stop);
  const words = countWords(stopped);
  if (words <= tokensLeft) return { text: stopped, toolCalls: [], finish: "stop", answerTokens: words };
  return { text: firstWords(stopped, tokensLeft), toolCalls: [], finish: "length", answerTokens: tokensLeft };
}

function cutAtStop(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => text.indexOf(stop)).filter((place) => place >= 0);
  return places.length === 0 ? text : text.slice(0, Math.min(...places)).trimEnd();
}

function makeToolCalls(prompt: Prompt, identity: Identity, choice: number): ToolCall[] {
  if (prompt.toolChoice.mode === "none" || prompt.messages.at(-1)?.role === "tool") return [];
  const callable = callableTools(prompt);
  return callable.map((tool, index) => ({
    label: identity.token(`call ${choice} ${index}`, 24),
    name: tool.name,
    arguments: JSON.stringify(jsonInstance(tool.parameters)),
  }));
}

/** The named tool, else the first one; two calls where the user asks for parallel ones. */
function callableTools(prompt: Prompt): PromptTool[] {
  const { toolChoice, tools } = prompt;
  const named = toolChoice.mode === "named" ? tools.find((tool) => tool.name === toolChoice.name) : undefined;
  const first = named ?? tools[0];
  if (first === undefined) return [];
  const twice = prompt.parallelTools && lastUserText(prompt.messages).toLowerCase().includes("parallel");
  if (!twice) return [first];
  return [first, named ?? tools[1] ?? first];
}

function limitCalls(calls: readonly ToolCall[], tokensMax: number): TurnAnswer {
  const kept: ToolCall[] = [];
  let tokensLeft = tokensMax;
  for (const call of calls) {
    const wanted = callTokens(call);
    if (tokensLeft <= 0) break;
    kept.push(wanted <= tokensLeft ? call : cutCall(call, tokensLeft));
    tokensLeft -= Math.min(wanted, tokensLeft);
  }
  const whole = kept.length === calls.length && kept.at(-1) === calls.at(-1);
  const answerTokens = whole ? sum(calls.map(callTokens)) : tokensMax;
  return { text: "", toolCalls: kept, finish: whole ? "tool_calls" : "length", answerTokens };
}

function callTokens(call: ToolCall): number {
  return Math.ceil((call.name.length + call.arguments.length) / charactersPerToken);
}

function cutCall(call: ToolCall, tokens: number): ToolCall {
  const characters = Math.max(0, tokens * charactersPerToken - call.name.length);
  return { ...call, arguments: call.arguments.slice(0, characters) };
}

function countTokens(prompt: Prompt, turns: readonly Turn[]): TokenCounts {
  return {
    ...countPrompt(prompt.messages),
    answer: sum(turns.map((turn) => turn.answerTokens)),
    reasoning: sum(turns.map((turn) => turn.reasoningTokens)),
  };
}

function countPrompt(messages: readonly PromptMessage[]): { readonly prompt: number; readonly cached: number } {
  const characters = sum(messages.map((message) => message.text.length));
  const system = sum(messages.map((message) => (isSystem(message.role) ? message.text.length : 0)));
  return {
    prompt: Math.max(1, Math.ceil(characters / charactersPerToken) + tokensPerMessage * messages.length),
    cached: system > cachedAboveCharacters ? Math.ceil(system / charactersPerToken) : 0,
  };
}

function isSystem(role: string): boolean {
  return role === "system" || role === "developer";
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** The first `count` words with the white space between them as it was. */
function firstWords(text: string, count: number): string {
  if (count <= 0) return "";
  if (!Number.isFinite(count)) return text.trim();
  const words = /\S+/g;
  let end = 0;
  for (let found = 0; found < count; found++) {
    const match = words.exec(text);
    if (match === null) break;
    end = match.index + match[0].length;
  }
  return text.slice(0, end).trimStart();
}
