import { createHash } from "node:crypto";
import { fitsToolName } from "../../../core/index.ts";
import type { Answer, AnswerEvent } from "../answer.ts";
import type { Conversation, Tool, ToolChoice, Turn } from "../conversation.ts";
import type { AnswerBlock, Part } from "../parts.ts";
import type { DialectTranslation } from "../translation.ts";

/** A conversation whose tools have names that its upstream takes, and the client's names by those; undefined if all fitted. */
interface FittedNames {
  conversation: Conversation;
  names: ReadonlyMap<string, string> | undefined;
}

/** The digits of a hash behind a name that was changed. */
const HASH_DIGITS = 8;

/** Gives tools names that the upstream takes, in the history too. A name becomes the same one in every request. */
export function fitToolNames(conversation: Conversation, max: number | undefined): FittedNames {
  if (max === undefined) return { conversation, names: undefined };
  const names = new Map<string, string>();
  const fit = (name: string): string => {
    if (fitsToolName(name, max)) return name;
    const fitted = fittedName(name, max);
    names.set(fitted, name);
    return fitted;
  };
  const tools = conversation.tools.map((tool) => fitTool(tool, fit));
  const turns = conversation.turns.map((turn) => fitTurn(turn, fit));
  const toolChoice = fitChoice(conversation.toolChoice, fit);
  if (names.size === 0) return { conversation, names: undefined };
  return { conversation: { ...conversation, tools, turns, toolChoice }, names };
}

function fittedName(name: string, max: number): string {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, HASH_DIGITS);
  return `${name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, max - HASH_DIGITS - 1)}_${hash}`;
}

type Fit = (name: string) => string;

function fitTool(tool: Tool, fit: Fit): Tool {
  return tool.kind === "native" ? tool : { ...tool, name: fit(tool.name) };
}

function fitTurn(turn: Turn, fit: Fit): Turn {
  if (turn.role !== "assistant") return turn;
  return {
    ...turn,
    parts: turn.parts.map((part): Part => (part.kind === "tool-call" ? { ...part, name: fit(part.name) } : part)),
  };
}

function fitChoice(choice: ToolChoice | undefined, fit: Fit): ToolChoice | undefined {
  if (choice === undefined || choice.mode === "native") return choice;
  if (choice.mode === "tool") return { ...choice, name: fit(choice.name) };
  return choice.allowed === undefined
    ? choice
    : { ...choice, allowed: choice.allowed.map((one) => ({ ...one, name: fit(one.name) })) };
}

/** The client's dialect, with the client's own names of tools. */
export function namingTools(client: DialectTranslation, names: ReadonlyMap<string, string>): DialectTranslation {
  return {
    ...client,
    writeAnswer: (answer, context) => client.writeAnswer(nameAnswer(answer, names), context),
    streamWriter(context) {
      const writer = client.streamWriter(context);
      return { write: (event) => writer.write(nameEvent(event, names)) };
    },
  };
}

function nameBlock<Block extends AnswerBlock>(block: Block, names: ReadonlyMap<string, string>): Block {
  const name = block.kind === "tool-call" ? names.get(block.name) : undefined;
  return name === undefined ? block : { ...block, name };
}

function nameEvent(event: AnswerEvent, names: ReadonlyMap<string, string>): AnswerEvent {
  return event.type === "block-start" ? { ...event, block: nameBlock(event.block, names) } : event;
}

function nameAnswer(answer: Answer, names: ReadonlyMap<string, string>): Answer {
  const choices = answer.choices.map(({ blocks, ...choice }) => ({
    ...choice,
    blocks: blocks.map((block) => nameBlock(block, names)),
  }));
  return { ...answer, choices };
}
