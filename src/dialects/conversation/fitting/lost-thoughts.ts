/**
 * The thoughts of earlier answers, for a model that demands them: which of a history are missing, how they return to it, and those
 * of the answer that is being made.
 */
import type { AnswerEvent } from "../answer.ts";
import { eventsOfAnswer } from "../collect-answer.ts";
import type { Conversation, Turn } from "../conversation.ts";
import { joinTurns } from "../join-turns.ts";
import type { Part } from "../parts.ts";
import type { DialectTranslation } from "../translation.ts";

/**
 * The first call of each earlier answer that has lost its thoughts. Undefined if there is an answer without a call among them, which
 * nothing names.
 */
export function callsWithoutThoughts({ turns, rest }: Conversation): string[] | undefined {
  const found: string[] = [];
  // In chat each message is an answer.
  for (const { role, parts } of rest.dialect === "chat" ? turns : joinTurns(turns)) {
    if (role !== "assistant" || parts.some(isThought)) continue;
    const call = parts.find((part) => part.kind === "tool-call");
    if (call === undefined) return undefined;
    found.push(call.callId);
  }
  return found;
}

/** The conversation with a thought before each of these calls, by their ids. */
export function withThoughtsOfCalls(conversation: Conversation, thoughts: ReadonlyMap<string, string>): Conversation {
  const turns = conversation.turns.map((turn): Turn => {
    const call = turn.parts.find((part) => part.kind === "tool-call" && thoughts.has(part.callId));
    const text = call?.kind === "tool-call" ? thoughts.get(call.callId) : undefined;
    return text === undefined ? turn : { ...turn, parts: [{ kind: "reasoning", text }, ...turn.parts] };
  });
  return { ...conversation, turns };
}

function isThought(part: Part): boolean {
  return part.kind === "reasoning" && (part.text !== "" || (part.summary ?? []).some((text) => text !== ""));
}

/** Collects thoughts of at most so many characters: longer ones are forgotten. */
export function thoughtsOfAnswer(charactersMax: number): AnswerThoughts {
  return new AnswerThoughts(charactersMax);
}

/** Collects the thoughts of an answer and the ids of its calls. */
export class AnswerThoughts {
  readonly #charactersMax: number;
  #text = "";
  #callIds: string[] = [];
  #isThinking = false;

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax;
  }

  /** Empty for an answer without thoughts, or with longer ones. */
  get text(): string {
    return this.#text.length > this.#charactersMax ? "" : this.#text;
  }

  get callIds(): readonly string[] {
    return this.#callIds;
  }

  /** Before an answer; another one may have failed. */
  begin(): void {
    this.#text = "";
    this.#callIds = [];
  }

  /** The translation of an upstream's dialect, whose answers are read on the way. */
  reading(upstream: DialectTranslation): DialectTranslation {
    return {
      ...upstream,
      readAnswer: (answer, context) => {
        const read = upstream.readAnswer(answer, context);
        this.begin();
        for (const event of eventsOfAnswer(read)) this.#readEvent(event);
        return read;
      },
      streamReader: (context) => {
        const reader = upstream.streamReader(context);
        this.begin();
        return {
          read: (data) => {
            const events = reader.read(data);
            for (const event of events) this.#readEvent(event);
            return events;
          },
          close: () => reader.close(),
        };
      },
    };
  }

  add(thought: string): void {
    if (this.#text.length <= this.#charactersMax) this.#text += thought;
  }

  addCall(id: string): void {
    this.#callIds.push(id);
  }

  #readEvent(event: AnswerEvent): void {
    if (event.type === "delta" && this.#isThinking) this.add(event.text);
    if (event.type !== "block-start" || event.choice !== 0) return;
    const { block } = event;
    this.#isThinking = block.kind === "reasoning";
    if (block.kind === "tool-call") this.addCall(block.callId);
  }
}
