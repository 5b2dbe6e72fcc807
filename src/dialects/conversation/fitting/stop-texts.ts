/** Stop sequences of a client whose model knows none: its answer is cut before the first of them. The rest is paid all the same. */
import type { Answer, AnswerChoice, AnswerEvent, DeltaEvent } from "../answer.ts";
import type { DialectTranslation, StreamWriter } from "../translation.ts";

/** The client's dialect, in which answers end before any of these sequences. None of them may be empty. */
export function stoppingAt(client: DialectTranslation, sequences: readonly string[]): DialectTranslation {
  return {
    ...client,
    writeAnswer: (answer, context) => client.writeAnswer(cutAnswer(answer, sequences), context),
    streamWriter: (context) => stoppingWriter(client.streamWriter(context), sequences),
  };
}

/** The sequence that is complete first in a text, and its place; of several that end there, the longest. */
function findStop(text: string, sequences: readonly string[]): { at: number; sequence: string } | undefined {
  let first: { at: number; end: number; sequence: string } | undefined;
  for (const sequence of sequences) {
    const at = text.indexOf(sequence);
    const end = at + sequence.length;
    if (at === -1 || (first !== undefined && (end > first.end || (end === first.end && at > first.at)))) continue;
    first = { at, end, sequence };
  }
  return first;
}

function cutAnswer(answer: Answer, sequences: readonly string[]): Answer {
  return { ...answer, choices: answer.choices.map((choice) => cutChoice(choice, sequences)) };
}

function cutChoice(choice: AnswerChoice, sequences: readonly string[]): AnswerChoice {
  for (const [index, block] of choice.blocks.entries()) {
    const found = block.kind === "text" ? findStop(block.text, sequences) : undefined;
    if (found === undefined || block.kind !== "text") continue;
    const cut = { ...block, text: block.text.slice(0, found.at), logprobs: undefined };
    return {
      blocks: [...choice.blocks.slice(0, index), cut],
      stop: { reason: "stop-sequence", sequence: found.sequence },
    };
  }
  return choice;
}

/** A choice of a stream. */
interface OpenChoice {
  isText: boolean;
  /** The end of its text that may be the beginning of a sequence. */
  held: string;
  /** The sequence before which it has ended. */
  ended?: string;
}

function stoppingWriter(writer: StreamWriter, sequences: readonly string[]): StreamWriter {
  const choices = new Map<number, OpenChoice>();
  const cut = (event: AnswerEvent): readonly AnswerEvent[] => {
    if (!("choice" in event)) return [event];
    const choice = choices.get(event.choice) ?? { isText: false, held: "" };
    choices.set(event.choice, choice);
    if (choice.ended !== undefined) {
      return event.type === "stop" ? [{ ...event, stop: { reason: "stop-sequence", sequence: choice.ended } }] : [];
    }
    if (event.type === "block-start") choice.isText = event.block.kind === "text";
    if (!choice.isText) return [event];
    if (event.type === "delta") return cutDelta(event, choice, sequences);
    if (event.type !== "block-end" || choice.held === "") return [event];
    const rest: DeltaEvent = { ...event, type: "delta", text: choice.held };
    choice.held = "";
    return [rest, event];
  };
  return {
    write: (event) =>
      cut(event)
        .map((one) => writer.write(one))
        .join(""),
  };
}

function cutDelta(event: DeltaEvent, choice: OpenChoice, sequences: readonly string[]): AnswerEvent[] {
  const text = choice.held + event.text;
  const found = findStop(text, sequences);
  const shown = text.slice(0, found?.at ?? text.length - heldLength(text, sequences));
  const { choice: number, index } = event;
  const delta = shown === event.text ? event : { ...event, text: shown, logprobs: undefined };
  const deltas: AnswerEvent[] = shown === "" ? [] : [delta];
  if (found === undefined) {
    choice.held = text.slice(shown.length);
    return deltas;
  }
  choice.ended = found.sequence;
  return [...deltas, { type: "block-end", choice: number, index }];
}

/** The characters at the end of a text that begin a sequence. */
function heldLength(text: string, sequences: readonly string[]): number {
  const longest = Math.max(...sequences.map(({ length }) => length)) - 1;
  for (let length = Math.min(longest, text.length); length > 0; length -= 1) {
    const end = text.slice(-length);
    if (sequences.some((sequence) => sequence.startsWith(end))) return length;
  }
  return 0;
}
