/**
 * One text of a round as blocks of the answer, with the citations that are marked in it. A dialect whose cited passages are blocks
 * of their own gets them so, each with its sources first; in the others a citation follows its passage, with its place in the text.
 */
import type { AnswerBlock, AnswerEvent, Citation } from "../../dialects/index.ts";
import type { JsonObject } from "../../core/index.ts";
import { LinkedText } from "../citations/linked-text.ts";
import { MarkedText, type TextPiece } from "../citations/marked-text.ts";
import { quoteOf, type CitedSource, type Sources } from "../citations/sources.ts";

/** The place of the next event in the answer. */
interface BlockPlaces {
  /** Begins a block; returns its index. */
  next: () => number;
}

interface TextWriterOptions {
  sources: Sources;
  places: BlockPlaces;
  /** Whether a cited passage is a block of its own. */
  splits: boolean;
}

export class TextWriter {
  readonly #options: TextWriterOptions;
  readonly #marked: MarkedText;
  readonly #linked: LinkedText;
  /** The index of the open block; undefined if the next text begins one. */
  #index: number | undefined;
  /** Characters of the open block. */
  #written = 0;
  #cited: { sources: readonly CitedSource[]; start: number } | undefined;

  constructor(options: TextWriterOptions) {
    this.#options = options;
    this.#marked = new MarkedText(options.sources);
    this.#linked = new LinkedText(options.sources);
  }

  write(text: string, logprobs?: readonly JsonObject[]): AnswerEvent[] {
    const pieces = this.#marked.push(text);
    const [only] = pieces;
    if (pieces.length === 1 && only?.type === "text" && only.text === text) return this.#text(text, logprobs);
    return pieces.flatMap((piece) => this.#piece(piece));
  }

  /** A citation of the upstream's own. */
  cite(citation: Citation): AnswerEvent[] {
    const begun = this.#begin();
    return [...begun, { type: "citation", choice: 0, index: this.#index ?? 0, citation }];
  }

  end(): AnswerEvent[] {
    return [...this.#marked.end().flatMap((piece) => this.#piece(piece)), ...this.#endBlock()];
  }

  #piece(piece: TextPiece): AnswerEvent[] {
    switch (piece.type) {
      case "text":
        return this.#text(piece.text);
      case "open":
        return this.#open(piece.sources);
      case "close":
        return this.#close();
    }
  }

  #text(text: string, logprobs?: readonly JsonObject[]): AnswerEvent[] {
    const begun = this.#begin();
    const index = this.#index ?? 0;
    this.#written += text.length;
    const delta = { type: "delta" as const, choice: 0, index, text, ...(logprobs !== undefined && { logprobs }) };
    if (this.#options.splits) return [...begun, delta];
    const links = this.#linked
      .push(text)
      .map(({ source, start, end }): AnswerEvent => citationEvent(index, { ...named(source), start, end }));
    return [...begun, delta, ...links];
  }

  #open(sources: readonly CitedSource[]): AnswerEvent[] {
    if (!this.#options.splits) {
      this.#cited = { sources, start: this.#written };
      return [];
    }
    const before = this.#endBlock();
    const begun = this.#begin();
    const index = this.#index ?? 0;
    const cited = sources.map((source) => citationEvent(index, { ...named(source), quoted: quoteOf(source) }));
    return [...before, ...begun, ...cited];
  }

  #close(): AnswerEvent[] {
    if (this.#options.splits) return this.#endBlock();
    const { sources = [], start = 0 } = this.#cited ?? {};
    this.#cited = undefined;
    const place = { start, end: this.#written };
    return start === this.#written
      ? []
      : sources.map((source) => citationEvent(this.#index ?? 0, { ...named(source), ...place }));
  }

  #begin(): AnswerEvent[] {
    if (this.#index !== undefined) return [];
    this.#index = this.#options.places.next();
    const block: AnswerBlock = { kind: "text", text: "" };
    return [{ type: "block-start", choice: 0, index: this.#index, block }];
  }

  #endBlock(): AnswerEvent[] {
    const index = this.#index;
    this.#index = undefined;
    this.#written = 0;
    return index === undefined ? [] : [{ type: "block-end", choice: 0, index }];
  }
}

type UrlCitation = Extract<Citation, { kind: "url" }>;

function named({ url, title, number }: CitedSource): UrlCitation {
  const value = Buffer.from(`tollgate:${number}`).toString("base64");
  return { kind: "url", url, title, sealed: { origin: "native:messages", value } };
}

function citationEvent(index: number, citation: UrlCitation): AnswerEvent {
  return { type: "citation", choice: 0, index, citation };
}
