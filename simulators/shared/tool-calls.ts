import type { Identity } from "./identity.ts";
import { jsonInstance } from "./json-instance.ts";
import type { Prompt, PromptMessage, PromptTool } from "./prompt.ts";
import type { Scenario } from "./scenario.ts";
import { readScript, type Script } from "./script.ts";

/** One function call that the simulated model makes. */
export interface ToolCall {
  /** Different for each call of each choice; a provider builds its own id from it. */
  readonly label: string;
  readonly name: string;
  /** JSON text, or the free text of a custom tool; truncated by the token limit. */
  readonly arguments: string;
  readonly custom: boolean;
  readonly namespace?: string;
}

const charactersPerToken = 4;

/**
 * From this number of tools on, the client is taken for a coding agent, whose tools run commands and start further agents on the
 * user's machine. A call with made-up arguments must not reach it unrequested.
 */
const agentToolsMin = 6;

/** The calls of one choice: none if tools are forbidden, missing, or have answered often enough. */
export function makeToolCalls(prompt: Prompt, scenario: Scenario, identity: Identity, choice: number): ToolCall[] {
  const { toolChoice, tools, messages } = prompt;
  if (toolChoice.mode === "none") return [];
  const script = readScript(messages);
  if (script !== null && script.calls.length > 0) return dictatedCalls(script, tools, identity);
  if (toolChoice.mode === "auto" && tools.length >= agentToolsMin && scenario.steps === undefined) return [];
  if (messages.at(-1)?.role === "tool" && roundsDone(messages) >= (scenario.steps ?? 1)) return [];
  return callableTools(prompt, scenario).map((tool, index) => {
    const label = identity.token(`call ${choice} ${index}`, 24);
    return callOf(tool, label, JSON.stringify(jsonInstance(tool.parameters)));
  });
}

/** The call of this round, if the client offers its tool: side requests, such as those for a title, offer none. */
function dictatedCalls({ calls, rounds }: Script, tools: readonly PromptTool[], identity: Identity): ToolCall[] {
  const dictated = calls[rounds];
  const tool = dictated && tools.find((candidate) => fullNameOf(candidate) === dictated.name);
  return tool === undefined ? [] : [callOf(tool, identity.token(`dictated ${rounds}`, 24), dictated?.input ?? "")];
}

function fullNameOf({ name, namespace }: PromptTool): string {
  return namespace === undefined ? name : `${namespace}.${name}`;
}

function callOf({ name, custom = false, namespace }: PromptTool, label: string, given: string): ToolCall {
  return { label, name, arguments: given, custom, ...(namespace === undefined ? {} : { namespace }) };
}

/** Rounds of calls since the user last spoke. */
function roundsDone(messages: readonly PromptMessage[]): number {
  const start = messages.findLastIndex((message) => message.role === "user") + 1;
  return messages.slice(start).filter((message) => message.calledTools).length;
}

/** The named tool, else the first one; two calls if the user asks for parallel ones. Free text is never made up. */
function callableTools({ toolChoice, tools: all, parallelTools }: Prompt, scenario: Scenario): PromptTool[] {
  const tools = all.filter(({ custom }) => custom !== true);
  const named = toolChoice.mode === "named" ? tools.find((tool) => tool.name === toolChoice.name) : undefined;
  const first = named ?? tools[0];
  if (first === undefined) return [];
  if (!parallelTools || !scenario.parallel) return [first];
  return [first, named ?? tools[1] ?? first];
}

/** As many calls as fit into a limit, the last one truncated if necessary. */
export function limitCalls(calls: readonly ToolCall[], tokensMax: number): { calls: ToolCall[]; tokens: number } {
  const kept: ToolCall[] = [];
  let tokens = 0;
  for (const call of calls) {
    const left = tokensMax - tokens;
    if (left <= 0) break;
    const wanted = callTokens(call);
    kept.push(wanted <= left ? call : cutCall(call, left));
    tokens += Math.min(wanted, left);
  }
  return { calls: kept, tokens };
}

function callTokens(call: ToolCall): number {
  return Math.ceil((call.name.length + call.arguments.length) / charactersPerToken);
}

function cutCall(call: ToolCall, tokens: number): ToolCall {
  const characters = Math.max(0, tokens * charactersPerToken - call.name.length);
  return { ...call, arguments: call.arguments.slice(0, characters) };
}

/** Characters of arguments in one fragment of a streamed tool call. */
const fragmentCharacters = 7;

/** The pieces in which the arguments of a call are streamed. */
export function argumentPieces(call: ToolCall): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < call.arguments.length; start += fragmentCharacters) {
    pieces.push(call.arguments.slice(start, start + fragmentCharacters));
  }
  return pieces;
}
