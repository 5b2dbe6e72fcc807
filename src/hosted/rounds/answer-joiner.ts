/**
 * The answers of several rounds as one answer: one beginning, rising indices, one end. Calls of functions are taken out of each
 * round; `UseRunner`, which runs them, puts items in their place.
 */
import { addUsage, type JsonObject, type Usage } from "../../core/index.ts";
import {
  type Answer,
  type AnswerBlock,
  type AnswerEvent,
  collectAnswer,
  type Failure,
  type Stop,
  type ToolCallPart,
} from "../../dialects/index.ts";
import type { Sources } from "../citations/sources.ts";
import type { HostedDialect } from "../requests/asked-tools.ts";
import { TextWriter } from "./text-writer.ts";

/** The events of one kind of event that stands in a block. */
type BlockEvent = Extract<AnswerEvent, { index: number }>;

interface OpenBlock {
  /** Undefined for a text, whose blocks its writer counts. */
  index: number | undefined;
  text: TextWriter | undefined;
}

/** A round that has ended. */
export interface JoinedRound {
  /** As its upstream gave it. */
  answer: Answer;
  calls: readonly ToolCallPart[];
  stop: Stop;
  failure: Failure | undefined;
  usage: Usage;
}

export class AnswerJoiner {
  readonly #sources: Sources;
  /** Whether a cited passage is a block of its own. */
  readonly #splits: boolean;
  /** Whether the texts of all rounds are one: then there is an empty line between two of them. */
  readonly #isOneText: boolean;
  #endsWithin = false;
  #isSeparated = true;
  #hasBegun = false;
  #index = 0;
  #open: OpenBlock | undefined;
  #events: AnswerEvent[] = [];
  #usage: Usage = {};
  #serviceTier: string | undefined;

  constructor(sources: Sources, dialect: HostedDialect) {
    this.#sources = sources;
    this.#splits = dialect === "messages";
    this.#isOneText = dialect === "chat";
  }

  /** Whether a block has begun: what follows must go on from there. */
  get hasContent(): boolean {
    return this.#index > 0;
  }

  /** The usage of all rounds so far. */
  get usage(): Usage {
    return this.#usage;
  }

  /** Events of the round under way, as events of the whole answer. */
  take(events: readonly AnswerEvent[]): AnswerEvent[] {
    return events.flatMap((event) => {
      if ("choice" in event && event.choice !== 0) return [];
      this.#events.push(event);
      return this.#show(event);
    });
  }

  /** Ends the round. */
  endRound(): JoinedRound {
    const events = this.#events;
    this.#events = [];
    this.#isSeparated = false;
    this.#open = undefined;
    const failed = events.find((event) => event.type === "error");
    const answer = collectAnswer(events.filter((event) => event.type !== "error"));
    const { blocks = [], stop = { reason: "end" } as const } = answer.choices[0] ?? {};
    const usage = answer.usage ?? {};
    this.#usage = addUsage(this.#usage, usage);
    this.#serviceTier = answer.serviceTier ?? this.#serviceTier;
    const calls = blocks.filter((block) => block !== undefined && block.kind === "tool-call");
    return { answer, calls, stop, failure: failed?.failure, usage };
  }

  /** Begins the answer before its model does. */
  open(model: string): AnswerEvent[] {
    return this.#beginning({ id: "", model, created: undefined });
  }

  /** Begins a block of the gateway's own. */
  begin(block: AnswerBlock): { events: AnswerEvent[]; index: number } {
    const index = this.#next();
    return { index, events: [{ type: "block-start", choice: 0, index, block }] };
  }

  /** A whole block. */
  whole(block: AnswerBlock): AnswerEvent[] {
    const { events, index } = this.begin(block);
    return [...events, { type: "block-end", choice: 0, index }];
  }

  /** The end of a block of the gateway's own, with its final value. */
  end(index: number, value?: JsonObject): AnswerEvent[] {
    const last: AnswerEvent = { type: "block-end", choice: 0, index };
    return value === undefined ? [last] : [{ type: "native", choice: 0, index, value }, last];
  }

  /** The calls that the client runs. */
  handOut(calls: readonly ToolCallPart[]): AnswerEvent[] {
    return calls.flatMap((call) => {
      const index = this.#next();
      const place = { choice: 0, index };
      const block = { ...call, arguments: "" };
      return [
        { type: "block-start", ...place, block },
        { type: "delta", ...place, text: call.arguments },
        { type: "block-end", ...place },
      ];
    });
  }

  /** The end of the answer; `counted`: further usage. */
  finish(stop: Stop, counted: Usage): AnswerEvent[] {
    const usage = addUsage(this.#usage, counted);
    return [
      ...this.#beginning({ id: "", model: "", created: undefined }),
      { type: "stop", choice: 0, stop },
      { type: "usage", usage, serviceTier: this.#serviceTier },
      { type: "end" },
    ];
  }

  fail(failure: Failure): AnswerEvent[] {
    return [{ type: "error", failure }];
  }

  #beginning(answer: Pick<Answer, "id" | "model" | "created">): AnswerEvent[] {
    if (this.#hasBegun) return [];
    this.#hasBegun = true;
    return [{ type: "start", id: "", model: answer.model, created: answer.created }];
  }

  #show(event: AnswerEvent): AnswerEvent[] {
    switch (event.type) {
      case "start":
        return this.#beginning(event);
      case "block-start":
        return this.#start(event.block);
      case "delta":
      case "citation":
      case "signature":
      case "native":
      case "block-end":
        return this.#inBlock(event);
      case "usage":
      case "stop":
      case "end":
      case "error":
        return [];
    }
  }

  #start(block: AnswerBlock): AnswerEvent[] {
    this.#open = undefined;
    if (block.kind === "tool-call") return [];
    if (block.kind === "text") {
      const places = { next: () => this.#next() };
      const text = new TextWriter({ sources: this.#sources, places, splits: this.#splits });
      this.#open = { index: undefined, text };
      return block.text === "" ? [] : this.#writeText(text, block.text);
    }
    const { events, index } = this.begin(block);
    this.#open = { index, text: undefined };
    return events;
  }

  #inBlock(event: Exclude<BlockEvent, { type: "block-start" }>): AnswerEvent[] {
    const { index, text } = this.#open ?? {};
    if (event.type === "block-end") this.#open = undefined;
    if (text !== undefined && event.type === "delta") return this.#writeText(text, event.text, event.logprobs);
    if (text !== undefined) return intoText(text, event);
    return index === undefined ? [] : [{ ...event, index }];
  }

  #writeText(writer: TextWriter, text: string, logprobs?: readonly JsonObject[]): AnswerEvent[] {
    if (text === "") return [];
    const needsSeparator = this.#isOneText && !this.#isSeparated && this.#endsWithin;
    this.#isSeparated = true;
    this.#endsWithin = !/\s$/.test(text);
    const before = needsSeparator && !/^\s/.test(text) ? writer.write("\n\n") : [];
    return [...before, ...writer.write(text, logprobs)];
  }

  #next(): number {
    const index = this.#index;
    this.#index += 1;
    return index;
  }
}

function intoText(text: TextWriter, event: Exclude<BlockEvent, { type: "block-start" }>): AnswerEvent[] {
  switch (event.type) {
    case "citation":
      return text.cite(event.citation);
    case "block-end":
      return text.end();
    default:
      return [];
  }
}
