import type { ModelFacts } from "../../../core/index.ts";
import type { Answer, AnswerEvent, Stop } from "../answer.ts";
import type { Conversation, FunctionTool, Turn } from "../conversation.ts";
import type { AnswerBlock, ToolCallPart } from "../parts.ts";
import { fitStrictSchema } from "../schemas/fit-schema.ts";
import type { DialectTranslation, StreamWriter } from "../translation.ts";

/** A conversation that asks for the arguments of a tool as its answer, and the name of that tool. */
interface ForcedAnswer {
  conversation: Conversation;
  tool: string;
}

/**
 * A call that must be made, for a model that cannot be forced to: the arguments are asked for as an answer that fits their schema.
 * Undefined if more than one tool may be called, or if tools have been called before, whose results need their declarations.
 */
export function forcedAnswer(
  conversation: Conversation,
  { freeToolChoice, formats }: ModelFacts,
): ForcedAnswer | undefined {
  if (freeToolChoice !== true || formats !== undefined || conversation.format !== undefined) return undefined;
  const tool = forcedTool(conversation);
  const hasCalls = conversation.turns.some(({ parts }) =>
    parts.some(({ kind }) => kind === "tool-call" || kind === "tool-result"),
  );
  if (tool === undefined || hasCalls || isOpen(tool)) return undefined;
  const { name, description = "", at, parameters: schema = { type: "object", properties: {} } } = tool;
  const text =
    `Your answer is the JSON of the arguments with which the tool ${name} is called now. ${description}`.trim();
  const prompt: Turn = { role: "system", at, parts: [{ kind: "text", at, text }] };
  return {
    tool: name,
    conversation: {
      ...conversation,
      tools: [],
      toolChoice: undefined,
      parallelToolCalls: undefined,
      format: { kind: "schema", at, schema: fitStrictSchema(schema), name },
      turns: [prompt, ...conversation.turns],
    },
  };
}

/** Arguments with any members cannot be asked for: objects of answers are closed. */
function isOpen({ parameters }: FunctionTool): boolean {
  return /"additionalProperties":(?!false)/.test(JSON.stringify(parameters ?? {}));
}

/** The only tool that may be called, if one must be. */
function forcedTool({ tools, toolChoice }: Conversation): FunctionTool | undefined {
  if (toolChoice?.mode !== "tool" && toolChoice?.mode !== "required") return undefined;
  const named = toolChoice.mode === "tool" ? [toolChoice] : (toolChoice.allowed ?? undefined);
  const callable =
    named === undefined
      ? tools
      : tools.filter((tool) => tool.kind !== "native" && named.some(({ name }) => name === tool.name));
  const [tool] = callable;
  return callable.length === 1 && tool?.kind === "function" ? tool : undefined;
}

/** The client's dialect, in which the JSON of an answer is a call of the tool. */
export function callingTool(client: DialectTranslation, tool: string): DialectTranslation {
  return {
    ...client,
    writeAnswer: (answer, context) => client.writeAnswer(withCall(answer, tool, context.callId), context),
    streamWriter: (context) => callingWriter(client.streamWriter(context), tool, context.callId),
  };
}

/** Anything but an object is no arguments: a refusal, for example. */
const isJson = (text: string): boolean => text.trimStart().startsWith("{");

function callOf(tool: string, callId: string, text: string): ToolCallPart {
  return { kind: "tool-call", callId: `toolu_${callId}`, name: tool, arguments: text };
}

function stopOf(stop: Stop): Stop {
  return stop.reason === "end" ? { reason: "tool-calls" } : stop;
}

function withCall(answer: Answer, tool: string, callId: string): Answer {
  const choices = answer.choices.map(({ blocks, stop }) => {
    const at = blocks.findIndex((block) => block.kind === "text" && isJson(block.text));
    if (at === -1) return { blocks, stop };
    const called = blocks.map((block, index): AnswerBlock =>
      index === at && block.kind === "text" ? callOf(tool, callId, block.text) : block,
    );
    return { blocks: called, stop: stopOf(stop) };
  });
  return { ...answer, choices };
}

/** The first text is held back until it is known whether it is JSON. */
function callingWriter(writer: StreamWriter, tool: string, callId: string): StreamWriter {
  let held: AnswerEvent[] = [];
  let isCall: boolean | undefined;
  const released = (block: AnswerBlock | undefined, event: AnswerEvent): AnswerEvent[] => {
    const events = [...held, event];
    held = [];
    const [first] = events;
    return first?.type === "block-start" && block !== undefined ? [{ ...first, block }, ...events.slice(1)] : events;
  };
  const change = (event: AnswerEvent): readonly AnswerEvent[] => {
    if (event.type === "stop") return [isCall === true ? { ...event, stop: stopOf(event.stop) } : event];
    if (isCall !== undefined) return [event];
    if (event.type === "block-start" && event.block.kind === "text") held = [event];
    else if (held.length === 0) return [event];
    else if (event.type !== "delta" || event.text.trim() === "") {
      if (event.type !== "block-end") held.push(event);
      else return released(undefined, event);
    } else {
      isCall = isJson(event.text);
      return released(isCall ? callOf(tool, callId, "") : undefined, event);
    }
    return [];
  };
  return {
    write: (event) =>
      change(event)
        .map((one) => writer.write(one))
        .join(""),
  };
}
