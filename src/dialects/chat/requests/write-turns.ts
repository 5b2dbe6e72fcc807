import { type JsonObject, listOf, objectOf, parseObject, stringOf } from "../../../core/index.ts";
import {
  belongsTo,
  type Conversation,
  defined,
  expressNative,
  type FilePart,
  type ImagePart,
  joinTurns,
  type Part,
  placeSystem,
  type ReasoningPart,
  refused,
  shortCallId,
  type Signature,
  type ToolCallPart,
  type ToolResultPart,
  type TranslationTarget,
  type Turn,
  urlOfSource,
} from "../../conversation/index.ts";
import { writeImage } from "../answers/images.ts";
import { refusedMembers, withoutMembers } from "../message-members.ts";
import { detailsIn, readThoughtData, type ThoughtData } from "../thought-data.ts";

const noThoughtData: ThoughtData = { details: [] };

/** The turns as messages. A turn of a dialect that puts several things into a message becomes several messages. */
export function writeTurns(conversation: Conversation, target: TranslationTarget): JsonObject[] {
  const own = conversation.rest.dialect === "chat";
  const writer = new TurnWriter(target, own);
  const all = own ? conversation.turns : joinTurns(expressNative(conversation.turns, "chat", target));
  const turns = target.systemFirst === true ? placeSystem(all) : all;
  if (turns !== all) target.changed?.("roles");
  const loop = own ? 0 : startOfLoop(turns);
  for (const [index, turn] of turns.entries()) writer.add(turn, index >= loop);
  return withTakenMembers(writer.finish(), conversation, target);
}

/** Their contents have a place of their own. */
const thoughtMembers: ReadonlySet<string> = new Set(["reasoning_content", "reasoning", "reasoning_details"]);

const isLost = (name: string): boolean => !thoughtMembers.has(name);

/** The messages without the members that the model refuses; clients of OpenAI's SDKs return what an answer of any provider had. */
function withTakenMembers(messages: JsonObject[], { rest }: Conversation, target: TranslationTarget): JsonObject[] {
  if (target.messageMembers === undefined && target.noMessageNames !== true) return messages;
  const refusedIn = (message: JsonObject): string[] => refusedMembers(message, target);
  const given = rest.dialect === "chat" ? listOf(rest.body["messages"]).map((each) => objectOf(each) ?? {}) : [];
  if ([...given, ...messages].some((message) => refusedIn(message).some(isLost))) target.changed?.("members");
  return messages.map((message) => withoutMembers(message, refusedIn(message)));
}

/** The first turn after the user's last words: the loop of tool calls that is under way. */
function startOfLoop(turns: readonly Turn[]): number {
  const last = turns.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some(({ kind }) => kind !== "tool-result"),
  );
  return last + 1;
}

class TurnWriter {
  readonly #target: TranslationTarget;
  /** Whether the conversation came in this dialect: then everything keeps its format. */
  readonly #own: boolean;
  readonly #messages: JsonObject[] = [];
  /** Images of tool results and of answers, whose messages cannot contain them: they follow in the user's next one. */
  #carried: JsonObject[] = [];

  constructor(target: TranslationTarget, own: boolean) {
    this.#target = target;
    this.#own = own;
  }

  /** `inLoop`: the turn belongs to the loop of tool calls at the end. */
  add(turn: Turn, inLoop: boolean): void {
    switch (turn.role) {
      case "system":
      case "developer":
        this.#flush();
        this.#messages.push(this.#system(turn));
        return;
      case "assistant":
        this.#flush();
        this.#messages.push(this.#assistant(turn, inLoop));
        return;
      case "user":
      case "tool":
        this.#user(turn);
    }
  }

  finish(): JsonObject[] {
    this.#flush();
    const last = this.#messages.at(-1);
    if (this.#target.marksPrefill !== true || last?.["role"] !== "assistant") return this.#messages;
    this.#target.changed?.("prefill");
    return [...this.#messages.slice(0, -1), { ...last, prefix: true }];
  }

  #flush(): void {
    if (this.#carried.length > 0) this.#messages.push({ role: "user", content: this.#carried });
    this.#carried = [];
  }

  #system({ role, parts, name }: Turn): JsonObject {
    const known = role === "developer" && this.#target.developerRole === true ? "developer" : "system";
    if (role !== known) this.#target.changed?.("roles");
    const texts = parts.map((part) => {
      if (part.kind === "text") return part.text;
      throw refused(part.at ?? "system");
    });
    const content = this.#own && parts.length !== 1 ? parts.map((part) => this.#content(part)) : texts.join("\n\n");
    return defined({ role: known, content, name });
  }

  /** Results first: they must directly follow the calls. */
  #user({ role, parts, name }: Turn): void {
    const rest: Part[] = [];
    for (const part of parts) {
      if (part.kind === "tool-result") this.#messages.push(this.#result(part));
      else rest.push(part);
    }
    if (role === "tool" || (rest.length === 0 && parts.length > 0)) return;
    const [first] = rest;
    const marked = this.#own && first?.cache !== undefined;
    if (this.#carried.length === 0 && rest.length === 1 && first?.kind === "text" && !marked) {
      this.#messages.push(defined({ role, content: first.text, name }));
      return;
    }
    const content = [...this.#carried, ...rest.flatMap((part) => this.#contents(part))];
    this.#carried = [];
    this.#messages.push(defined({ role, content, name }));
  }

  #result({ callId, content, isError }: ToolResultPart): JsonObject {
    const result = { role: "tool", tool_call_id: this.#callId(callId) };
    const [first] = content;
    const bare = content.length === 1 && first?.kind === "text" && first.cache === undefined;
    if (this.#own && !bare) return { ...result, content: content.map((part) => this.#content(part)) };
    const texts: string[] = [];
    const pictures: JsonObject[] = [];
    for (const part of content.flatMap(spread)) {
      if (part.kind === "text") texts.push(part.text);
      else pictures.push(this.#content(part));
    }
    if (pictures.length > 0) {
      this.#carried.push({ type: "text", text: `Of the result of tool call ${callId}:` }, ...pictures);
      if (texts.length === 0) texts.push("The result follows in the next message.");
    }
    const text = texts.join("\n");
    const failed = isError === true && !/^\s*error\b/i.test(text);
    return { ...result, content: failed ? `Error: ${text}` : text };
  }

  #assistant({ parts, name }: Turn, inLoop: boolean): JsonObject {
    const texts: JsonObject[] = [];
    const calls: JsonObject[] = [];
    const images: ImagePart[] = [];
    const message: Record<string, unknown> = { role: "assistant", content: null };
    if (name !== undefined) message["name"] = name;
    for (const part of parts) {
      switch (part.kind) {
        case "text":
          texts.push({ type: "text", text: part.text });
          break;
        case "refusal":
          message["refusal"] = part.text;
          break;
        case "tool-call":
          calls.push(this.#call(part, calls.length === 0));
          break;
        case "image":
          images.push(part);
          break;
        case "reasoning":
          if (this.#target.reasoningField === "part") texts.push(...this.#thoughtPart(part));
          else this.#addReasoning(message, part, inLoop);
          break;
        case "native":
          if (part.dialect !== "chat") throw refused(part.at ?? "messages");
          Object.assign(message, part.value);
          break;
        default:
          throw refused(part.at ?? "messages");
      }
    }
    const joined = texts.every(({ type }) => type === "text") && (!this.#own || texts.length === 1);
    if (texts.length > 0) message["content"] = joined ? texts.map(({ text }) => text).join("") : texts;
    if (calls.length > 0) message["tool_calls"] = calls;
    if (images.length > 0) this.#addImages(message, images);
    return withoutTags(message);
  }

  #thoughtPart(part: ReasoningPart): JsonObject[] {
    const text = shownOf(part);
    if (this.#own && part.signature !== undefined) this.#target.changed?.("thoughts");
    return text === "" ? [] : [{ type: "thinking", thinking: [{ type: "text", text }] }];
  }

  #addImages(message: Record<string, unknown>, images: readonly ImagePart[]): void {
    if (this.#own) message["images"] = images.map(writeImage);
    else
      this.#carried.push({ type: "text", text: "Of the answer before:" }, ...images.map((one) => this.#content(one)));
  }

  /** Text goes into the field that the upstream expects; the rest of a thought is sent to its maker only. */
  #addReasoning(message: Record<string, unknown>, part: ReasoningPart, inLoop: boolean): void {
    const { signature } = part;
    const text = shownOf(part);
    const isOwn = signature !== undefined && belongsTo(signature, this.#target, "chat");
    const { details, extra, cipher, place } = isOwn ? readThoughtData(signature.value, text) : noThoughtData;
    if (cipher !== undefined) message["encrypted_content"] = cipher;
    if (extra !== undefined) message["extra_content"] = extra;
    if (details.length > 0) {
      message["reasoning_details"] = [...detailsIn(message["reasoning_details"]), ...details];
      // They contain the text.
      if (signature?.origin === this.#target.origin) return;
    }
    const { reasoningField } = this.#target;
    const shown = this.#own || (reasoningField === "as-shown" && inLoop) ? place : undefined;
    const field = reasoningField === "as-shown" ? shown : (reasoningField ?? shown);
    if (field !== undefined && text !== "") message[field] = stringOf(message[field]) + text;
  }

  #call({ callId, name, arguments: input, custom, signature }: ToolCallPart, first: boolean): JsonObject {
    const id = this.#callId(callId);
    const signed = this.#extraContent(signature);
    const extra = signed ?? (first ? this.#target.lostCallSignature : undefined);
    if (this.#own && extra !== signed) this.#target.changed?.("thoughts");
    const call =
      custom === true
        ? { id, type: "custom", custom: { name, input: input } }
        : { id, type: "function", function: { name, arguments: input === "" ? "{}" : input } };
    return extra === undefined ? call : { ...call, extra_content: extra };
  }

  #extraContent(signature: Signature | undefined): JsonObject | undefined {
    if (signature === undefined || !belongsTo(signature, this.#target, "chat")) return undefined;
    const made = parseObject(signature.value);
    if (made !== undefined || this.#target.lostCallSignature === undefined) return made;
    // Of the provider's other API, where it is no object.
    return { google: { thought_signature: signature.value } };
  }

  #callId(id: string): string {
    if (this.#target.shortCallIds !== true) return id;
    const short = shortCallId(id);
    if (short !== id) this.#target.changed?.("call-ids");
    return short;
  }

  #contents(part: Part): JsonObject[] {
    return spread(part).map((one) => this.#content(one));
  }

  #content(part: Part): JsonObject {
    switch (part.kind) {
      case "text":
        return this.#marked(part, { type: "text", text: part.text });
      case "image": {
        if (part.source.kind === "stored") throw refused(`${part.at}.source`, "An image in an upstream's store");
        const image = defined({ url: urlOfSource(part.source), detail: part.detail });
        return this.#marked(part, { type: "image_url", image_url: image });
      }
      case "audio":
        return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
      case "file":
        return this.#marked(part, { type: "file", file: file(part) });
      default:
        throw refused(part.at ?? "messages");
    }
  }

  /** Cache marks are not part of OpenAI's API: an upstream gets them only from a client of its own dialect. */
  #marked({ cache }: Part, content: JsonObject): JsonObject {
    return cache === undefined || !this.#own ? content : { ...content, cache_control: { type: "ephemeral", ...cache } };
  }
}

function file({ source, name, at }: FilePart): JsonObject {
  if (source.kind === "stored") return { file_id: source.id, ...(name === undefined ? {} : { filename: name }) };
  if (source.kind !== "base64") throw refused(`${at}.source`, "A document by its address");
  return { filename: name ?? "document.pdf", file_data: urlOfSource(source) };
}

/** Text documents are sent as text, with their name. */
function spread(part: Part): readonly Part[] {
  if (part.kind !== "file") return [part];
  const { source, name, at } = part;
  if (source.kind === "parts") return source.parts.flatMap(spread);
  if (source.kind !== "text") return [part];
  return [{ kind: "text", at, text: name === undefined ? source.text : `${name}\n\n${source.text}` }];
}

/** A thought, or its summaries if it has no text. */
function shownOf({ text, summary = [] }: ReasoningPart): string {
  return text === "" ? summary.join("\n\n") : text;
}

/** A thought that its upstream has shown between tags returns as it came, before the content. */
function withoutTags({ think, ...message }: Record<string, unknown>): JsonObject {
  return typeof think === "string"
    ? { ...message, content: `<think>${think}</think>${stringOf(message["content"])}` }
    : message;
}
