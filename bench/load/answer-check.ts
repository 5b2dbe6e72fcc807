import type { Expectation } from "./protocol.ts";

/** Checks one answer after the other and reports errors. */
export class AnswerCheck {
  /** Events of the present answer so far, `data: [DONE]` included. */
  events = 0;
  /** The server will close the connection after this answer. */
  closesAfter = false;
  readonly #body: BodyCheck;
  #statusProblem: string | null = null;

  constructor(expectation: Expectation) {
    this.#body = bodyCheckOf(expectation);
  }

  head(head: string): void {
    this.events = 0;
    this.#body.clear();
    this.closesAfter = /\r\nconnection:[ \t]*close/i.test(head);
    const good = head.startsWith("HTTP/1.1 200");
    this.#statusProblem = good ? null : (head.split("\r\n", 1)[0] ?? "no status line");
  }

  body(piece: Buffer): void {
    this.events += this.#body.add(piece);
  }

  /** Called at the end of the answer; null when it is right. */
  problem(): string | null {
    if (this.#statusProblem !== null) return `${this.#statusProblem}: ${this.#body.excerpt()}`;
    return this.#body.problem();
  }
}

function bodyCheckOf(expectation: Expectation): BodyCheck {
  switch (expectation.kind) {
    case "json":
      return new JsonCheck(expectation.marker);
    case "stream":
      return new StreamCheck(chatForm, { events: expectation.events, words: null });
    case "messages-stream":
      return new StreamCheck(messagesForm, expectation);
    case "gemini-stream":
      return new StreamCheck(geminiForm, expectation);
    case "open-stream":
      return new StreamCheck(chatForm, { events: null, words: null });
  }
}

interface BodyCheck {
  clear(): void;
  /** Returns how many events start in this piece. */
  add(piece: Buffer): number;
  problem(): string | null;
  excerpt(): string;
}

const excerptLength = 300;

class JsonCheck implements BodyCheck {
  readonly #marker: string;
  #body: Buffer = Buffer.alloc(0);

  constructor(marker: string) {
    this.#marker = marker;
  }

  clear(): void {
    this.#body = Buffer.alloc(0);
  }

  add(piece: Buffer): number {
    this.#body = this.#body.length === 0 ? piece : Buffer.concat([this.#body, piece]);
    return 0;
  }

  problem(): string | null {
    const last = this.#body[this.#body.length - 1];
    if (this.#body.includes(this.#marker) && last === "}".charCodeAt(0)) return null;
    return `not the expected answer: ${this.excerpt()}`;
  }

  excerpt(): string {
    return this.#body.toString("utf8", 0, excerptLength);
  }
}

const tailLength = 32;

/** The end of a stream: its last characters, and how many of its events belong to it. */
interface StreamForm {
  end: RegExp;
  endEvents: number;
}

const chatForm: StreamForm = { end: /data: \[DONE\][\r\n]*$/, endEvents: 1 };
const messagesForm: StreamForm = { end: /data: \{"type":"message_stop"\}[\r\n]*$/, endEvents: 0 };

/** No event is the last one by its name: their number tells a whole stream. */
const geminiForm: StreamForm = { end: /"responseId":"\w+"\}[\r\n]*$/, endEvents: 0 };

/** Null counts are not checked. */
interface StreamCounts {
  events: number | null;
  words: number | null;
}

class StreamCheck implements BodyCheck {
  readonly #form: StreamForm;
  readonly #expected: StreamCounts;
  readonly #events = new Occurrences("data:");
  readonly #words = new Occurrences(' word"');
  #tail = "";

  constructor(form: StreamForm, expected: StreamCounts) {
    this.#form = form;
    this.#expected = expected;
  }

  clear(): void {
    this.#events.count = 0;
    this.#words.count = 0;
    this.#tail = "";
  }

  add(piece: Buffer): number {
    const found = this.#events.add(piece, this.#tail);
    if (this.#expected.words !== null) this.#words.add(piece, this.#tail);
    const end = piece.toString("latin1", Math.max(0, piece.length - tailLength));
    this.#tail = piece.length >= tailLength ? end : (this.#tail + end).slice(-tailLength);
    return found;
  }

  problem(): string | null {
    const { end, endEvents } = this.#form;
    if (!end.test(this.#tail)) return `the stream ends with ${JSON.stringify(this.#tail)}`;
    const events = this.#events.count - endEvents;
    if (differs(events, this.#expected.events)) return `${events} events instead of ${this.#expected.events}`;
    const words = this.#words.count;
    return differs(words, this.#expected.words) ? `${words} words instead of ${this.#expected.words}` : null;
  }

  excerpt(): string {
    return this.#tail;
  }
}

function differs(count: number, expected: number | null): boolean {
  return expected !== null && count !== expected;
}

/** Counts a text in a body, however the body is cut. */
class Occurrences {
  count = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** `before`: the last characters before the piece. Returns the number of new ones. */
  add(piece: Buffer, before: string): number {
    const found = this.#inPiece(piece) + this.#overTheSeam(piece, before);
    this.count += found;
    return found;
  }

  #inPiece(piece: Buffer): number {
    let count = 0;
    for (let at = piece.indexOf(this.#text, 0, "latin1"); at >= 0; at = piece.indexOf(this.#text, at + 1, "latin1"))
      count += 1;
    return count;
  }

  #overTheSeam(piece: Buffer, before: string): number {
    if (before === "") return 0;
    const carry = this.#text.length - 1;
    const seam = before.slice(-carry) + piece.toString("latin1", 0, Math.min(carry, piece.length));
    return seam.includes(this.#text) ? 1 : 0;
  }
}
