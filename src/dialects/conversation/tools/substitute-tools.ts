import { parseObject, stringOf } from "../../../core/index.ts";
import type { Answer, AnswerEvent } from "../answer.ts";
import type { Conversation, CustomTool, FunctionTool, NativeTool, Tool, ToolChoice, Turn } from "../conversation.ts";
import type { AnswerBlock, Part, ToolCallPart } from "../parts.ts";
import type { DialectTranslation, StreamWriter } from "../translation.ts";
import { checkToolCalls } from "./check-tool-calls.ts";

/** The client's own form of a call of one of its tools. */
type Restore = (call: ToolCallPart) => AnswerBlock;

/** A conversation whose tools are functions, and the way back for calls of those that were not; undefined if all were. */
interface Substituted {
  conversation: Conversation;
  restore: ReadonlyMap<string, Restore> | undefined;
}

/**
 * Offers the client's other tools as functions to an upstream that does not know their kind: one that takes free text as a
 * function of one string, and a shell or an editor with the parameters of its kind. Calls and results in the history
 * are those of functions likewise.
 */
export function substituteTools(conversation: Conversation, takes: (type: string) => boolean): Substituted {
  const isForeign = (tool: Tool): tool is CustomTool | NativeTool =>
    tool.kind === "custom" ? !takes(tool.kind) : tool.kind === "native" && isReplaced(tool, takes);
  const takesText = takes("custom");
  const isForeignPart = (part: Part): boolean =>
    part.kind === "native"
      ? part.substitute !== undefined && !takes(part.substitute.type)
      : !takesText && "custom" in part && part.custom === true;
  const foreign = conversation.tools.filter(isForeign);
  const isSpoken = conversation.turns.some(({ parts }) => parts.some(isForeignPart));
  if (foreign.length === 0 && !isSpoken) return { conversation, restore: undefined };
  const names = new ToolSubstitutes(conversation.tools.filter((tool) => !isForeign(tool)));
  const tools = conversation.tools.map((tool) => (isForeign(tool) ? names.add(tool) : tool));
  const turns = conversation.turns.map((turn) => substituteTurn(turn, isForeignPart, names));
  if (isSpoken) checkToolCalls(turns);
  const toolChoice = names.choice(conversation.toolChoice);
  return { conversation: { ...conversation, tools, turns, toolChoice }, restore: names.restore };
}

function isReplaced({ substitute, type }: NativeTool, takes: (type: string) => boolean): boolean {
  return substitute !== undefined && !takes(type);
}

/** The functions by the names of the tools that they stand for. */
class ToolSubstitutes {
  readonly restore = new Map<string, Restore>();
  readonly #taken = new Set<string>();
  /** The names of functions, by the types of the client's tools. */
  readonly #byType = new Map<string, string>();
  readonly #custom = new Set<string>();

  constructor(others: readonly Tool[]) {
    for (const tool of others) if (tool.kind !== "native") this.#taken.add(tool.name);
  }

  add(tool: CustomTool | NativeTool): FunctionTool {
    if (tool.kind === "custom") {
      this.#custom.add(tool.name);
      this.restore.set(tool.name, restoreText);
      return functionOfText(tool);
    }
    const { at, type, substitute } = tool;
    const { restore, ...named } = substitute ?? { name: type };
    const name = this.#free(named.name);
    this.#byType.set(type, name);
    if (restore !== undefined) this.restore.set(name, restore);
    return { kind: "function", at, ...named, name };
  }

  /** The name of the function for a call in the history, whose tool may not be offered any more. */
  nameOf(type: string, name: string): string {
    return this.#byType.get(type) ?? name;
  }

  choice(choice: ToolChoice | undefined): ToolChoice | undefined {
    if (choice === undefined) return undefined;
    if (choice.mode === "tool") return this.#custom.has(choice.name) ? { ...choice, custom: false } : choice;
    if (choice.mode === "native") {
      const name = choice.type === undefined ? undefined : this.#byType.get(choice.type);
      return name === undefined ? choice : { mode: "tool", at: choice.at, name, custom: false };
    }
    const allowed = choice.allowed?.map((one) => (this.#custom.has(one.name) ? { ...one, custom: false } : one));
    return allowed === undefined ? choice : { ...choice, allowed };
  }

  #free(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number += 1) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** The one member of the arguments of a function that stands for a tool with free text. */
const TEXT = "input";

function functionOfText({ at, name, description = "", format }: CustomTool): FunctionTool {
  const definition = stringOf(format?.["definition"]);
  const grammar = definition === "" ? "" : `It must match this ${stringOf(format?.["syntax"])} grammar:\n${definition}`;
  const texts = [description, `The whole input is the free text in \`${TEXT}\`: no JSON and no code fence.`, grammar];
  return {
    kind: "function",
    at,
    name,
    description: texts.filter((text) => text !== "").join("\n\n"),
    parameters: {
      type: "object",
      properties: { [TEXT]: { type: "string" } },
      required: [TEXT],
      additionalProperties: false,
    },
  };
}

function restoreText(call: ToolCallPart): ToolCallPart {
  const input = parseObject(call.arguments);
  const only = input === undefined ? undefined : (input[TEXT] ?? Object.values(input)[0]);
  return { ...call, custom: true, arguments: typeof only === "string" ? only : call.arguments };
}

function substituteTurn(turn: Turn, isForeign: (part: Part) => boolean, names: ToolSubstitutes): Turn {
  if (!turn.parts.some(isForeign)) return turn;
  const parts = turn.parts.map((part) => (isForeign(part) ? substitutePart(part, names) : part));
  const isResult = parts.every(({ kind }) => kind === "tool-result");
  return { ...turn, role: isResult && turn.role === "assistant" ? "tool" : turn.role, parts };
}

function substitutePart(part: Part, names: ToolSubstitutes): Part {
  if (part.kind === "tool-call") {
    return { ...part, custom: undefined, arguments: JSON.stringify({ [TEXT]: part.arguments }) };
  }
  if (part.kind === "tool-result") return { ...part, custom: undefined };
  if (part.kind !== "native" || part.substitute === undefined) return part;
  const { type, part: own } = part.substitute;
  return own.kind === "tool-call" ? { ...own, name: names.nameOf(type, own.name) } : own;
}

/** The client's dialect, with the calls of substituted tools in the client's own form. */
export function restoringTools(client: DialectTranslation, restore: ReadonlyMap<string, Restore>): DialectTranslation {
  return {
    ...client,
    writeAnswer: (answer, context) => client.writeAnswer(restoreAnswer(answer, restore), context),
    streamWriter: (context) => restoringWriter(client.streamWriter(context), restore),
  };
}

function restoreBlock(block: AnswerBlock, restore: ReadonlyMap<string, Restore>): AnswerBlock {
  return block.kind === "tool-call" ? (restore.get(block.name)?.(block) ?? block) : block;
}

function restoreAnswer(answer: Answer, restore: ReadonlyMap<string, Restore>): Answer {
  const choices = answer.choices.map(({ blocks, ...choice }) => ({
    ...choice,
    blocks: blocks.map((block) => restoreBlock(block, restore)),
  }));
  return { ...answer, choices };
}

/** Calls of substituted tools are written at their end: their arguments can't be read before. */
function restoringWriter(writer: StreamWriter, restore: ReadonlyMap<string, Restore>): StreamWriter {
  const open = new Map<number, { call: ToolCallPart }>();
  const hold = (event: AnswerEvent): readonly AnswerEvent[] => {
    if (event.type === "block-start" && event.block.kind === "tool-call" && restore.has(event.block.name)) {
      open.set(event.choice, { call: event.block });
      return [];
    }
    const held = open.size > 0 && "index" in event ? open.get(event.choice) : undefined;
    if (held === undefined) return [event];
    if (event.type === "delta") held.call = { ...held.call, arguments: held.call.arguments + event.text };
    if (event.type === "signature") held.call = { ...held.call, signature: event.signature };
    if (event.type !== "block-end") return [];
    open.delete(event.choice);
    return eventsOfCall(restoreBlock(held.call, restore), event);
  };
  return {
    write: (event) =>
      hold(event)
        .map((one) => writer.write(one))
        .join(""),
  };
}

function eventsOfCall(block: AnswerBlock, end: Extract<AnswerEvent, { type: "block-end" }>): AnswerEvent[] {
  const { choice, index } = end;
  if (block.kind !== "tool-call") return [{ type: "block-start", choice, index, block }, end];
  return [
    { type: "block-start", choice, index, block: { ...block, arguments: "" } },
    { type: "delta", choice, index, text: block.arguments },
    end,
  ];
}
