import { type JsonObject, listOf, objectOf } from "../../../core/index.ts";
import {
  belongsTo,
  type Conversation,
  defined,
  expressNative,
  joinTurns,
  nativeOrigin,
  type Part,
  type ReasoningPart,
  refused,
  type TextPart,
  type RefusalPart,
  type ToolCallPart,
  type ToolResultPart,
  type TranslationTarget,
  type Turn,
  uniqueCallIds,
} from "../../conversation/index.ts";
import { spread, writeOutputText, writePart, writeRefusal } from "./write-parts.ts";

/** The instructions and the input. */
export interface WrittenInput {
  instructions: string | undefined;
  input: string | JsonObject[];
}

type Said = TextPart | RefusalPart;

/**
 * Text outside the instructions stays a message: instructions do not apply to the next response, and not every model
 * has them.
 */
export function writeInput(conversation: Conversation, target: TranslationTarget): WrittenInput {
  const own = conversation.rest.dialect === "responses";
  const ordered = target.callsLast === true ? withCallsLast(conversation.turns, target) : conversation.turns;
  const expressed = expressNative(ordered, "responses", target);
  const turns = own ? expressed : uniqueCallIds(expressed);
  const writer = new ItemWriter(target, own);
  if (target.textResults === true && hasListedResult(conversation)) target.changed?.("tool-results");
  let instructions: string | undefined;
  for (const turn of turns) {
    if (turn.at === "instructions")
      instructions = turn.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    else writer.add(turn);
  }
  writer.finish();
  const [first] = writer.items;
  const bare = writer.items.length === 1 && first?.["role"] === "user" && first["id"] === undefined;
  return { instructions, input: bare && typeof first["content"] === "string" ? first["content"] : writer.items };
}

/** Whether the client's own items have a result of a tool that is a list of parts. */
function hasListedResult({ rest }: Conversation): boolean {
  return (
    rest.dialect === "responses" && listOf(rest.body["input"]).some((item) => Array.isArray(objectOf(item)?.["output"]))
  );
}

/** The turns with the items of each answer in one, its calls behind its thoughts and texts. */
function withCallsLast(turns: readonly Turn[], { changed }: TranslationTarget): Turn[] {
  return joinTurns(turns).map((turn) => {
    const calls = turn.parts.filter(({ kind }) => kind === "tool-call");
    const first = turn.parts.findIndex(({ kind }) => kind === "tool-call");
    if (turn.role !== "assistant" || turn.parts.length - first === calls.length || first < 0) return turn;
    changed?.("call-order");
    return { ...turn, parts: [...turn.parts.filter(({ kind }) => kind !== "tool-call"), ...calls] };
  });
}

class ItemWriter {
  readonly items: JsonObject[] = [];
  readonly #target: TranslationTarget;
  /** Whether the conversation came in this dialect: then everything keeps its format. */
  readonly #own: boolean;
  /** Calls of tools that accept free text: their results have a separate type. */
  readonly #custom = new Set<string>();
  /** Images of answers, which are no items of another upstream: they follow in the user's next message. */
  #carried: Part[] = [];

  constructor(target: TranslationTarget, own: boolean) {
    this.#target = target;
    this.#own = own;
  }

  add(turn: Turn): void {
    switch (turn.role) {
      case "system":
      case "developer":
        this.finish();
        this.#message(turn.role === "developer" && this.#knowsDeveloper ? "developer" : "system", turn, turn.parts);
        return;
      case "assistant":
        this.finish();
        this.#assistant(turn);
        return;
      case "user":
      case "tool":
        this.#user(turn);
    }
  }

  finish(): void {
    if (this.#carried.length > 0) this.#message("user", {}, this.#carried);
    this.#carried = [];
  }

  get #knowsDeveloper(): boolean {
    return this.#own || this.#target.developerRole === true;
  }

  #message(role: string, { id }: Pick<Turn, "id">, parts: readonly Part[]): void {
    const [first] = parts;
    const bare = parts.length === 1 && first?.kind === "text" && !(this.#own && first.cache !== undefined);
    const content = bare ? first.text : parts.flatMap(spread).map((part) => writePart(part, this.#own));
    this.items.push(named("message", id, { role, content }));
  }

  /** Results first: they must follow the calls. */
  #user(turn: Turn): void {
    const rest: Part[] = [];
    for (const part of turn.parts) {
      if (part.kind === "tool-result") this.items.push(this.#result(part));
      else rest.push(part);
    }
    if (rest.length === 0) return;
    this.#message("user", turn, [...this.#carried, ...rest]);
    this.#carried = [];
  }

  #result({ callId, content, isError, id, custom }: ToolResultPart): JsonObject {
    const [first] = content;
    const bare = content.length === 1 && first?.kind === "text" && !(this.#own && first.cache !== undefined);
    const parts = content.flatMap(spread);
    const asText = !bare && this.#target.textResults === true;
    const output = bare
      ? first.text
      : asText
        ? this.#textOf(callId, parts)
        : parts.map((part) => writePart(part, this.#own));
    const type = custom === true || this.#custom.has(callId) ? "custom_tool_call_output" : "function_call_output";
    return named(type, id, { call_id: callId, output: isError === true ? asError(output) : output });
  }

  /** The texts of a result. Its other parts follow in the user's next message, as in chat. */
  #textOf(callId: string, parts: readonly Part[]): string {
    const texts = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const others = parts.filter(({ kind }) => kind !== "text");
    if (others.length === 0) return texts.join("\n");
    this.#carried.push({ kind: "text", text: `Of the result of tool call ${callId}:` }, ...others);
    return texts.length === 0 ? "The result follows in the next message." : texts.join("\n");
  }

  /** Thoughts and calls are separate items; text between them is a message. */
  #assistant(turn: Turn): void {
    let pending: Said[] = [];
    const tell = (): void => {
      if (pending.length > 0) this.#say(turn, pending);
      pending = [];
    };
    for (const part of turn.parts) {
      if (part.kind === "text" || part.kind === "refusal") {
        pending.push(part);
        continue;
      }
      tell();
      const item = this.#item(part);
      if (item !== undefined) this.items.push(item);
    }
    tell();
    // A message without content is returned as one.
    if (this.#own && turn.parts.length === 0)
      this.items.push(named("message", turn.id, { role: "assistant", content: [] }));
  }

  /** Parts are for messages with an id, which are the model's own; others are written as one text. */
  #say({ id }: Turn, parts: readonly Said[]): void {
    const [first] = parts;
    const bare = parts.length === 1 && first?.kind === "text" && first.citations === undefined && id === undefined;
    const whole = bare || (!this.#own && id === undefined);
    const content = whole
      ? parts.map(({ text }) => text).join("")
      : parts.map((part) => (part.kind === "text" ? writeOutputText(part) : writeRefusal(part.text)));
    this.items.push(named("message", id, { role: "assistant", content }));
  }

  #item(part: Exclude<Part, Said>): JsonObject | undefined {
    switch (part.kind) {
      case "tool-call":
        return this.#call(part);
      case "reasoning":
        return this.#reasoning(part);
      case "native":
        if (part.dialect === "responses") return part.value;
        throw refused(part.at ?? "input");
      case "image":
        if (this.#own && part.native?.dialect === "responses") return part.native.value;
        if (this.#carried.length === 0) this.#carried.push({ kind: "text", text: "Of the answer before:" });
        this.#carried.push(part);
        return undefined;
      default:
        throw refused(part.at ?? "input");
    }
  }

  #call({ callId, name, arguments: input, custom, id }: ToolCallPart): JsonObject {
    if (custom !== true) {
      return named("function_call", id, {
        call_id: callId,
        name,
        arguments: !this.#own && input === "" ? "{}" : input,
      });
    }
    this.#custom.add(callId);
    return defined({ type: "custom_tool_call", id, call_id: callId, name, input: input });
  }

  /** A thought returns to its maker; for other upstreams it is an unknown item. */
  #reasoning({ id, text, summary = [], signature }: ReasoningPart): JsonObject | undefined {
    if (this.#target.plainThoughts === true) {
      const shown = text || summary.join("\n\n");
      const content = [{ type: "reasoning_text", text: shown }];
      const own = signature?.origin === this.#target.origin ? signature.value || undefined : undefined;
      return shown === "" ? undefined : defined({ type: "reasoning", summary: [], content, encrypted_content: own });
    }
    const native = this.#own && (signature === undefined || signature.origin === nativeOrigin("responses"));
    const sealed = signature?.value !== "" && belongsTo(signature, this.#target, "responses");
    if (!native && !sealed) return undefined;
    return defined({
      type: "reasoning",
      id: id ?? `rs_${this.items.length}`,
      summary: summary.map((one) => ({ type: "summary_text", text: one })),
      content: native && text !== "" ? [{ type: "reasoning_text", text }] : undefined,
      encrypted_content: signature?.value,
    });
  }
}

/** An item; one with an id is complete. */
function named(type: string, id: string | undefined, members: JsonObject): JsonObject {
  return id === undefined ? { type, ...members } : { type, id, status: "completed", ...members };
}

/** This dialect cannot mark a result as an error. */
function asError(output: string | JsonObject[]): string | JsonObject[] {
  if (typeof output !== "string") return [{ type: "input_text", text: "Error:" }, ...output];
  return /^\s*error\b/i.test(output) ? output : `Error: ${output}`;
}
