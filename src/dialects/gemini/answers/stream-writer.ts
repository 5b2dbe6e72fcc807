import type { Usage } from "../../../core/index.ts";
import type {
  AnswerBlock,
  AnswerEvent,
  BlockStartEvent,
  Citation,
  ClientContext,
  DeltaEvent,
  Signature,
  StartEvent,
  Stop,
  StreamWriter,
} from "../../conversation/index.ts";
import { writeGeminiError } from "./failures.ts";
import {
  candidateOf,
  identityOf,
  showsThoughts,
  summarySeparator,
  writeCall,
  writeEnd,
  writeImage,
  writeThought,
} from "./write-answer.ts";
import { writeUsage } from "./write-usage.ts";

const normalEnd: Stop = { reason: "end" };

/** One answer of several. */
interface PendingCandidate {
  block: AnswerBlock | undefined;
  signature: Signature | undefined;
  summary: number | undefined;
  hasText: boolean;
  refuses: boolean;
  citations: Citation[];
  stop: Stop | undefined;
}

/**
 * Answer events to the chunks of a Gemini stream, which is nothing but lines of `data`: SDKs stumble over everything else. A
 * call stands whole in one chunk. The last chunk has the reasons of all ends and the usage.
 */
export class GeminiStreamWriter implements StreamWriter {
  readonly #client: ClientContext;
  readonly #shows: boolean;
  /** By their indexes, which an upstream may choose freely. */
  readonly #candidates = new Map<number, PendingCandidate>();
  /** The end of every chunk after its candidates. */
  #tail = "";
  #usage: Usage = {};

  constructor(client: ClientContext) {
    this.#client = client;
    this.#shows = showsThoughts(client.request);
  }

  write(event: AnswerEvent): string {
    switch (event.type) {
      case "start":
        return this.#start(event);
      case "block-start":
        return this.#startBlock(event);
      case "delta":
        return this.#writeDelta(event);
      case "citation":
        this.#candidate(event.choice).citations.push(event.citation);
        return "";
      case "signature":
        this.#candidate(event.choice).signature = event.signature;
        return "";
      case "native":
        return "";
      case "block-end":
        return this.#endBlock(event.choice);
      case "stop":
        this.#candidate(event.choice).stop = event.stop;
        return "";
      case "usage":
        this.#usage = event.usage ?? this.#usage;
        return "";
      case "end":
        return this.#end();
      case "error":
        return `data: ${JSON.stringify(writeGeminiError(event.failure))}\n\n`;
    }
  }

  #start({ model }: StartEvent): string {
    this.#tail = `],${JSON.stringify(identityOf(model, this.#client)).slice(1)}\n\n`;
    return "";
  }

  #candidate(index: number): PendingCandidate {
    const found = this.#candidates.get(index);
    if (found !== undefined) return found;
    const candidate: PendingCandidate = {
      block: undefined,
      signature: undefined,
      summary: undefined,
      hasText: false,
      refuses: false,
      citations: [],
      stop: undefined,
    };
    this.#candidates.set(index, candidate);
    return candidate;
  }

  #chunk(index: number, part: string): string {
    return `data: {"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":${index}}${this.#tail}`;
  }

  #startBlock({ choice, block }: BlockStartEvent): string {
    const candidate = this.#candidate(choice);
    candidate.block = block;
    candidate.signature = block.kind === "reasoning" || block.kind === "tool-call" ? block.signature : undefined;
    candidate.summary = undefined;
    candidate.hasText = false;
    candidate.refuses ||= block.kind === "refusal";
    if (block.kind === "image") return this.#chunk(choice, writeImage(block));
    if (block.kind !== "native" || block.dialect !== "gemini") return "";
    return this.#chunk(choice, JSON.stringify(block.value));
  }

  #writeDelta({ choice, text, summary }: DeltaEvent): string {
    const candidate = this.#candidate(choice);
    const { block } = candidate;
    switch (block?.kind) {
      case "text":
      case "refusal":
        return text === "" ? "" : this.#chunk(choice, `{"text":${JSON.stringify(text)}}`);
      case "tool-call":
        candidate.block = { ...block, arguments: block.arguments + text };
        return "";
      case "reasoning": {
        const begins = candidate.hasText && summary !== candidate.summary;
        candidate.hasText = true;
        candidate.summary = summary;
        if (!this.#shows || text === "") return "";
        return this.#chunk(choice, writeThought(begins ? summarySeparator + text : text, undefined));
      }
      default:
        return "";
    }
  }

  #endBlock(choice: number): string {
    const candidate = this.#candidate(choice);
    const { block, signature } = candidate;
    candidate.block = undefined;
    if (block?.kind === "tool-call") return this.#chunk(choice, writeCall({ ...block, signature }));
    if (block?.kind !== "reasoning" || signature === undefined) return "";
    return this.#chunk(choice, writeThought("", signature));
  }

  #end(): string {
    const candidates = [...this.#candidates].map(([index, { stop = normalEnd, refuses, citations }]) =>
      candidateOf([], { index, ...writeEnd({ stop, refuses, citations }) }),
    );
    const usage = JSON.stringify(writeUsage(this.#usage));
    return `data: {"candidates":[${candidates.join(",")}],"usageMetadata":${usage},${this.#tail.slice("],".length)}`;
  }
}
