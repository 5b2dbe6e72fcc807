import { GatewayError, type JsonObject } from "../../core/index.ts";
import type {
  Answer,
  AnswerChoice,
  AnswerEvent,
  BlockStartEvent,
  CitationEvent,
  DeltaEvent,
  NativeEvent,
  SignatureEvent,
  Stop,
} from "./answer.ts";
import type { AnswerBlock } from "./parts.ts";

interface OpenChoice {
  blocks: AnswerBlock[];
  stop: Stop;
}

/** Sums the events of a stream. */
class AnswerCollector {
  #answer: Omit<Answer, "choices"> = {
    id: "",
    model: "",
    created: undefined,
    usage: undefined,
    serviceTier: undefined,
  };
  readonly #choices: OpenChoice[] = [];

  get answer(): Answer {
    const choices: AnswerChoice[] = this.#choices.filter((choice) => choice !== undefined);
    return { ...this.#answer, choices };
  }

  add(event: AnswerEvent): void {
    switch (event.type) {
      case "start":
        this.#answer = { ...this.#answer, id: event.id, model: event.model, created: event.created };
        return;
      case "block-start":
      case "delta":
      case "citation":
      case "signature":
      case "native":
        this.#addToBlock(event);
        return;
      case "usage":
        this.#answer.usage = event.usage ?? this.#answer.usage;
        this.#answer.serviceTier = event.serviceTier ?? this.#answer.serviceTier;
        return;
      case "stop":
        this.#choice(event.choice).stop = event.stop;
        return;
      case "error":
        throw new GatewayError("upstream_interrupted", event.failure.message);
      case "block-end":
      case "end":
    }
  }

  #choice(index: number): OpenChoice {
    return (this.#choices[index] ??= { blocks: [], stop: { reason: "end" } });
  }

  #addToBlock(event: BlockStartEvent | DeltaEvent | CitationEvent | SignatureEvent | NativeEvent): void {
    const { blocks } = this.#choice(event.choice);
    if (event.type === "block-start") {
      blocks[event.index] = event.block;
      return;
    }
    const block = blocks[event.index];
    if (block !== undefined) blocks[event.index] = grown(block, event);
  }
}

/** The answer of a stream of these events. Throws for one that ends with an error. */
export function collectAnswer(events: Iterable<AnswerEvent>): Answer {
  const collector = new AnswerCollector();
  for (const event of events) collector.add(event);
  return collector.answer;
}

function grown(block: AnswerBlock, event: DeltaEvent | CitationEvent | SignatureEvent | NativeEvent): AnswerBlock {
  if (event.type === "native") return block.kind === "native" ? { ...block, value: event.value } : block;
  if (event.type === "delta") return withDelta(block, event);
  if (event.type === "signature") {
    return block.kind === "reasoning" || block.kind === "tool-call" ? { ...block, signature: event.signature } : block;
  }
  return block.kind === "text" ? { ...block, citations: [...(block.citations ?? []), event.citation] } : block;
}

function withDelta(block: AnswerBlock, { text, summary, logprobs }: DeltaEvent): AnswerBlock {
  switch (block.kind) {
    case "text":
      return { ...block, text: block.text + text, ...withLogprobs(block.logprobs, logprobs) };
    case "reasoning":
      return summary === undefined
        ? { ...block, text: block.text + text }
        : { ...block, summary: withSummary(block.summary ?? [], summary, text) };
    case "refusal":
      return { ...block, text: block.text + text };
    case "tool-call":
      return { ...block, arguments: block.arguments + text };
    case "image":
    case "native":
      return block;
  }
}

function withLogprobs(before: readonly JsonObject[] | undefined, more: readonly JsonObject[] | undefined) {
  return more === undefined ? {} : { logprobs: [...(before ?? []), ...more] };
}

function withSummary(before: readonly string[], index: number, text: string): string[] {
  const summary = [...before];
  while (summary.length <= index) summary.push("");
  summary[index] += text;
  return summary;
}

/** The shortest stream of the answer: one delta per text. */
export function* eventsOfAnswer(answer: Answer): Generator<AnswerEvent> {
  yield { type: "start", id: answer.id, model: answer.model, created: answer.created };
  for (const [choice, { blocks, stop }] of answer.choices.entries()) {
    for (const [index, block] of blocks.entries()) yield* eventsOfBlock(choice, index, block);
    yield { type: "stop", choice, stop };
  }
  if (answer.usage !== undefined || answer.serviceTier !== undefined) {
    yield { type: "usage", usage: answer.usage, serviceTier: answer.serviceTier };
  }
  yield { type: "end" };
}

function* eventsOfBlock(choice: number, index: number, block: AnswerBlock): Generator<AnswerEvent> {
  const at = { choice, index };
  switch (block.kind) {
    case "text": {
      const { citations = [], logprobs, text, ...start } = block;
      yield { type: "block-start", ...at, block: { ...start, text: "" } };
      if (text !== "" || logprobs !== undefined) yield { type: "delta", ...at, text, logprobs };
      for (const citation of citations) yield { type: "citation", ...at, citation };
      break;
    }
    case "reasoning": {
      const { text, summary = [], signature, redacted, ...start } = block;
      const sealed = redacted === true ? { redacted, signature } : {};
      yield { type: "block-start", ...at, block: { ...start, ...sealed, text: "" } };
      if (text !== "") yield { type: "delta", ...at, text };
      for (const [number, one] of summary.entries()) yield { type: "delta", ...at, text: one, summary: number };
      if (signature !== undefined && redacted !== true) yield { type: "signature", ...at, signature };
      break;
    }
    case "refusal":
      yield { type: "block-start", ...at, block: { ...block, text: "" } };
      if (block.text !== "") yield { type: "delta", ...at, text: block.text };
      break;
    case "tool-call":
      yield { type: "block-start", ...at, block: { ...block, arguments: "" } };
      if (block.arguments !== "") yield { type: "delta", ...at, text: block.arguments };
      break;
    case "image":
    case "native":
      yield { type: "block-start", ...at, block };
      break;
  }
  yield { type: "block-end", ...at };
}
