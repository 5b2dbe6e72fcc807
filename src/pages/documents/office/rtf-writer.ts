import { escapeUTF8 } from "entities";
import { decoderOf } from "../../charset/decode.ts";
import type { OfficeHtml } from "./office-page.ts";
import { RtfBlocks } from "./rtf-blocks.ts";
import { RtfDestinations } from "./rtf-destinations.ts";
import { encodingOfCodePage } from "./rtf-encodings.ts";

/** A token of `rtf-stream-parser`: the beginning of a group (0), its end (1), a control word (2), text (3). */
export interface RtfToken {
  type: number;
  word?: string;
  param?: number;
  data?: Buffer;
}

/** What holds until the end of a group. */
interface Format {
  isBold: boolean;
  isItalic: boolean;
  isHidden: boolean;
  /** Characters after `\u` that stand for it in older readers. */
  unicodeSkip: number;
  font: number;
}

/** Control words that are one character. */
const characters: Readonly<Record<string, string>> = {
  "~": "\u00a0",
  _: "\u2011",
  "{": "{",
  "}": "}",
  "\\": "\\",
  tab: " ",
  emdash: "—",
  endash: "–",
  emspace: " ",
  enspace: " ",
  bullet: "•",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
};

/** Writes the text of an RTF document as HTML (Rich Text Format Specification 1.9.1). */
export class RtfWriter {
  readonly #destinations = new RtfDestinations();
  readonly #blocks = new RtfBlocks((style) => this.#destinations.headingOf(style));
  readonly #formats: Format[] = [];
  #format: Format = { isBold: false, isItalic: false, isHidden: false, unicodeSkip: 1, font: -1 };
  #encoding = "windows-1252";
  /** Bytes of text that are not decoded yet: a letter may have several. */
  #bytes: Buffer[] = [];
  #toSkip = 0;

  take({ type, word, param, data }: RtfToken): void {
    if (type === 3 && data !== undefined) this.#takeBytes(data);
    else if (word === "'" && data !== undefined) this.#takeBytes(data);
    else {
      this.#decode();
      if (type === 0) this.#begin();
      else if (type === 1) this.#end();
      else if (word !== undefined) this.#control(word, param);
    }
  }

  result(): OfficeHtml {
    this.#decode();
    return { ...this.#blocks.result(), metadata: this.#destinations.metadata };
  }

  #begin(): void {
    this.#formats.push(this.#format);
    this.#format = { ...this.#format };
    this.#destinations.begin();
  }

  #end(): void {
    this.#format = this.#formats.pop() ?? this.#format;
    const ended = this.#destinations.end();
    if (ended?.place === "marker") this.#blocks.item(ended.text);
    if (ended?.place === "note") this.#blocks.note(ended.text.trim());
  }

  #takeBytes(data: Buffer): void {
    const skipped = Math.min(this.#toSkip, data.length);
    this.#toSkip -= skipped;
    if (skipped < data.length) this.#bytes.push(data.subarray(skipped));
  }

  #decode(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Buffer.concat(this.#bytes);
    this.#bytes = [];
    const encoding = this.#destinations.encodingOf(this.#format.font) ?? this.#encoding;
    this.#text(decoderOf(encoding).decode(bytes));
  }

  #text(text: string): void {
    if (this.#destinations.takes(text) || this.#format.isHidden) return;
    const { isBold, isItalic } = this.#format;
    const link = this.#destinations.link;
    let html = escapeUTF8(text);
    if (isBold && text.trim() !== "") html = `<strong>${html}</strong>`;
    if (isItalic && text.trim() !== "") html = `<em>${html}</em>`;
    this.#blocks.write(link === undefined ? html : `<a href="${escapeUTF8(link)}">${html}</a>`);
  }

  #control(word: string, param: number | undefined): void {
    if (this.#destinations.control(word, param)) return;
    const character = characters[word];
    if (character !== undefined) this.#text(character);
    else if (word === "u" && param !== undefined) this.#unicode(param);
    else if (!this.#setFormat(word, param)) this.#blocks.control(word, param);
  }

  /** Letters beyond the first plane are two halves. */
  #unicode(code: number): void {
    this.#text(String.fromCharCode(code < 0 ? code + 65_536 : code));
    this.#toSkip = this.#format.unicodeSkip;
  }

  #setFormat(word: string, param: number | undefined): boolean {
    const isOn = param !== 0;
    if (word === "b") this.#format.isBold = isOn;
    else if (word === "i") this.#format.isItalic = isOn;
    else if (word === "v") this.#format.isHidden = isOn;
    else if (word === "plain") this.#format = { ...this.#format, isBold: false, isItalic: false, isHidden: false };
    else if (word === "uc") this.#format.unicodeSkip = Math.min(Math.max(param ?? 1, 0), 16);
    else if (word === "f") this.#format.font = param ?? -1;
    else if (word === "ansicpg") this.#encoding = encodingOfCodePage(param) ?? this.#encoding;
    else if (word === "mac") this.#encoding = "macintosh";
    else return false;
    return true;
  }
}
