import { type JsonObject, objectOf, parseObject, stringOf } from "../../../core/index.ts";
import {
  belongsTo,
  type Conversation,
  defined,
  expressNative,
  type FilePart,
  invalid,
  joinTurns,
  type Part,
  refused,
  type Signature,
  type Source,
  type ToolCallPart,
  type ToolResultPart,
  type TranslationTarget,
  type Turn,
} from "../../conversation/index.ts";
import { plainSignature } from "../signatures.ts";

/** The system prompt and the contents. */
interface WrittenTurns {
  systemInstruction: JsonObject | undefined;
  contents: JsonObject[];
}

/** All prompts come first. Results of one turn are in one content, before the user's own words. */
export function writeTurns(conversation: Conversation, target: TranslationTarget): WrittenTurns {
  const own = conversation.rest.dialect === "gemini";
  const all = own ? conversation.turns : joinTurns(expressNative(conversation.turns, "gemini", target));
  const turns = all.filter((turn) => !isSystem(turn));
  const writer = new ContentWriter(target, { own, loop: startOfLoop(turns) });
  for (const [index, turn] of turns.entries()) writer.add(turn, index);
  const contents = writer.finish();
  if (contents.length === 0) throw invalid(all[0]?.at ?? "contents", "must hold more than a system prompt");
  if (!own && contents[0]?.["role"] === "model") contents.unshift(opening);
  const prompt = all.filter(isSystem).flatMap(({ parts }) => writer.writeAll(parts));
  return { systemInstruction: prompt.length === 0 ? undefined : { parts: prompt }, contents };
}

function isSystem({ role }: Turn): boolean {
  return role === "system" || role === "developer";
}

/** A conversation begins with the user. */
const opening: JsonObject = { role: "user", parts: [{ text: "(The assistant begins.)" }] };

const isUsers = ({ role, parts }: Turn): boolean => role === "user" && parts.some(({ kind }) => kind !== "tool-result");

/** The first turn after the user's last words: the loop of calls that is under way. */
function startOfLoop(turns: readonly Turn[]): number {
  return turns.findLastIndex(isUsers) + 1;
}

class ContentWriter {
  readonly #target: TranslationTarget;
  /** Whether the conversation came in this dialect. */
  readonly #own: boolean;
  /** The index of the first turn of the loop of calls at the end. */
  readonly #loop: number;
  readonly #contents: { role: "user" | "model"; results: JsonObject[]; parts: JsonObject[] }[] = [];
  /** The names of the calls, which their results repeat. */
  readonly #names = new Map<string, string>();

  constructor(target: TranslationTarget, { own, loop }: { own: boolean; loop: number }) {
    this.#target = target;
    this.#own = own;
    this.#loop = loop;
  }

  add({ role, parts, at }: Turn, index: number): void {
    if (role === "assistant") {
      const written = this.#writeModel(parts, index >= this.#loop);
      // An empty turn of the model is omitted; an empty one of the user is refused by the upstream.
      if (written.length > 0) this.#contents.push({ role: "model", results: [], parts: written });
      return;
    }
    const last = this.#contents.at(-1);
    const content = last?.role === "user" ? last : { role: "user" as const, results: [], parts: [] };
    if (content !== last) this.#contents.push(content);
    for (const part of parts) {
      if (part.kind === "tool-result") this.#addResult(part, content);
      else content.parts.push(...this.writeAll([part]));
    }
    if (content.results.length + content.parts.length === 0)
      throw invalid(at, "must not be empty for this model's provider");
  }

  finish(): JsonObject[] {
    return this.#contents.map(({ role, results, parts }) => ({ role, parts: [...results, ...parts] }));
  }

  writeAll(parts: readonly Part[]): JsonObject[] {
    return parts.flatMap((part) => this.#write(part));
  }

  /** Images of results, which older models do not take in them, follow all results. */
  #addResult(
    { callId, content, isError, at }: ToolResultPart,
    into: { results: JsonObject[]; parts: JsonObject[] },
  ): void {
    const name = this.#names.get(callId);
    if (name === undefined) throw invalid(at ?? "contents", "no tool call before it has this id");
    const texts = content.flatMap((part) => (part.kind === "text" ? [part.text] : []));
    const others = content.filter(({ kind }) => kind !== "text");
    const text = texts.join("\n");
    const object = this.#own && isError !== true ? parseObject(text) : undefined;
    const response = object ?? (isError === true ? { error: text } : { output: text });
    into.results.push({ functionResponse: { id: callId, name, response } });
    if (others.length > 0) into.parts.push({ text: `Of the result of tool call ${callId}:` }, ...this.writeAll(others));
  }

  /** Calls of the loop at the end need the signature of their step, on the first of them. */
  #writeModel(parts: readonly Part[], inLoop: boolean): JsonObject[] {
    let isFirst = true;
    return parts.flatMap((part) => {
      if (part.kind === "tool-call") {
        const call = this.#writeCall(part, isFirst && inLoop);
        isFirst = false;
        return [call];
      }
      if (part.kind !== "reasoning") return this.#write(part);
      const sealed = this.#ownSignature(part.signature);
      if (sealed === undefined) return [];
      return part.text === ""
        ? [{ text: "", thoughtSignature: sealed }]
        : [{ text: part.text, thought: true, thoughtSignature: sealed }];
    });
  }

  #writeCall(
    { callId: id, name, arguments: text, custom, signature, at }: ToolCallPart,
    needsSignature: boolean,
  ): JsonObject {
    if (custom === true) throw refused(at ?? "contents", "A call of a tool that takes free text");
    this.#names.set(id, name);
    const args = text.trim() === "" ? {} : (parseObject(text) ?? { INVALID_JSON: text });
    const sealed = this.#ownSignature(signature) ?? (needsSignature ? this.#lostSignature() : undefined);
    return { functionCall: { id, name, args }, ...(sealed === undefined ? {} : { thoughtSignature: sealed }) };
  }

  /** A signature that the target has made; undefined for any other. */
  #ownSignature(signature: Signature | undefined): string | undefined {
    if (signature === undefined || !belongsTo(signature, this.#target, "gemini")) return undefined;
    return plainSignature(signature) || undefined;
  }

  #lostSignature(): string | undefined {
    return stringOf(objectOf(this.#target.lostCallSignature?.["google"])?.["thought_signature"]) || undefined;
  }

  #write(part: Part): JsonObject[] {
    switch (part.kind) {
      case "text":
      case "refusal":
        return part.text === "" ? [] : [{ text: part.text }];
      case "image":
        return [{ ...this.#writeSource(part.source, { at: part.at }), ...this.#modifiers(part) }];
      case "audio":
        return [
          {
            inlineData: { mimeType: part.mediaType ?? `audio/${part.format}`, data: part.data },
            ...this.#modifiers(part),
          },
        ];
      case "file":
        return this.#writeFile(part);
      case "native":
        if (part.dialect === "gemini") return [part.value];
        throw refused(part.at ?? "contents");
      default:
        throw refused(part.at ?? "contents");
    }
  }

  /** Members of the part that no other dialect has. */
  #modifiers({ own }: Pick<Part, "own">): JsonObject | undefined {
    return own?.dialect === "gemini" ? own.value : undefined;
  }

  #writeFile(file: FilePart): JsonObject[] {
    const { source, name, at } = file;
    switch (source.kind) {
      case "text":
        return [{ text: name === undefined ? source.text : `${name}\n\n${source.text}` }];
      case "parts":
        return this.writeAll(source.parts);
      default:
        return [{ ...this.#writeSource(source, { at, name }), ...this.#modifiers(file) }];
    }
  }

  /**
   * Objects in Google's stores have their owners, who are known for bodies of this dialect alone. Addresses in others have been fetched
   * by now: Google, which asks with the operator's key, must not resolve one that is left.
   */
  #writeSource(source: Source, { at, name }: { at: string | undefined; name?: string | undefined }): JsonObject {
    const isLeft = source.kind === "stored" || source.kind === "url";
    if (isLeft && !this.#own)
      throw refused(at ?? "contents", "A file in a provider's store, or one that can't be fetched,");
    switch (source.kind) {
      case "base64":
        return { inlineData: { mimeType: source.mediaType, data: source.data } };
      case "url":
        return { fileData: defined({ fileUri: source.url, mimeType: source.mediaType, displayName: name }) };
      case "stored":
        return { fileData: defined({ fileUri: source.id, mimeType: source.mediaType }) };
    }
  }
}
