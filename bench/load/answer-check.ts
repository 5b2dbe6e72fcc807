import type { Expectation } from "./protocol.ts";

/** Looks at one answer after the other and says what is wrong with it. */
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
      return new StreamCheck(expectation.events);
    case "open-stream":
      return new StreamCheck(null);
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

const eventField = "data:";
const carryLength = eventField.length - 1;
const endOfStream = /data: \[DONE\][\r\n]*$/;
const tailLength = 32;

class StreamCheck implements BodyCheck {
  readonly #expected: number | null;
  #events = 0;
  #tail = "";

  constructor(expected: number | null) {
    this.#expected = expected;
  }

  clear(): void {
    this.#events = 0;
    this.#tail = "";
  }

  add(piece: Buffer): number {
    const found = countInPiece(piece) + this.#countOverTheSeam(piece);
    this.#events += found;
    const end = piece.toString("latin1", Math.max(0, piece.length - tailLength));
    this.#tail = piece.length >= tailLength ? end : (this.#tail + end).slice(-tailLength);
    return found;
  }

  #countOverTheSeam(piece: Buffer): number {
    if (this.#tail === "") return 0;
    const seam = this.#tail.slice(-carryLength) + piece.toString("latin1", 0, Math.min(carryLength, piece.length));
    return seam.includes(eventField) ? 1 : 0;
  }

  problem(): string | null {
    if (!endOfStream.test(this.#tail)) return `the stream ends with ${JSON.stringify(this.#tail)}`;
    const events = this.#events - 1;
    return this.#expected === null || events === this.#expected
      ? null
      : `${events} events instead of ${this.#expected}`;
  }

  excerpt(): string {
    return this.#tail;
  }
}

function countInPiece(piece: Buffer): number {
  let count = 0;
  for (let at = piece.indexOf(eventField, 0, "latin1"); at >= 0; at = piece.indexOf(eventField, at + 1, "latin1"))
    count += 1;
  return count;
}
