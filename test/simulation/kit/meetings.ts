/**
 * What happens to a piece of work while something else is under way. A span has a beginning and an end; an event, or the
 * beginning of a span, meets every other span that is open for the same subject, and those of the whole world.
 */
export type Span =
  | "opening"
  | "renewal"
  | "top-up"
  /** From a top-up that failed until the next one. */
  | "top-up pause"
  | "hand-over"
  /** A stream waits for its first content: another target is left. */
  | "holding"
  /** To another target, after an attempt that failed. */
  | "move"
  | "end"
  /** The upstream is paused, since the hold is used up. */
  | "held back"
  /** The client does not read. */
  | "client pause"
  /** A job runs the work. */
  | "job"
  /** A response waits for its charge, and messages behind it. */
  | "withheld"
  /** A client's message waits for its hold. */
  | "cover"
  /** The upstream was asked for a response that it has not begun. */
  | "asked"
  /** The upstream writes a whole answer. */
  | "answering"
  /** Of the whole world. */
  | "commit"
  | "outage";

export type Happening =
  | Span
  | "tick"
  | "lost answer"
  | "refused commit"
  | "hang-up"
  | "exhaustion"
  | "upstream end"
  | "upstream break"
  | "expiry"
  | "repeat"
  | "drain"
  | "client drain"
  | "client message";

/** The pairs that must meet within a thousand seeds: `[what happens, during what]`. */
export const pairs: readonly (readonly [Happening, Span])[] = [
  ["renewal", "top-up"],
  ["renewal", "top-up pause"],
  ["renewal", "held back"],
  ["top-up", "renewal"],
  ["top-up", "client pause"],
  ["top-up", "outage"],
  ["tick", "commit"],
  ["tick", "top-up"],
  ["tick", "hand-over"],
  ["tick", "held back"],
  ["lost answer", "opening"],
  ["lost answer", "renewal"],
  ["lost answer", "top-up"],
  ["lost answer", "hand-over"],
  ["lost answer", "end"],
  ["refused commit", "opening"],
  ["refused commit", "renewal"],
  ["refused commit", "top-up"],
  ["refused commit", "hand-over"],
  ["refused commit", "end"],
  ["hang-up", "opening"],
  ["hang-up", "renewal"],
  ["hang-up", "top-up"],
  ["hang-up", "held back"],
  ["hang-up", "client pause"],
  ["hang-up", "end"],
  ["hang-up", "outage"],
  ["exhaustion", "renewal"],
  ["exhaustion", "held back"],
  ["exhaustion", "client pause"],
  ["upstream end", "top-up"],
  ["upstream end", "held back"],
  ["upstream end", "client pause"],
  ["upstream end", "outage"],
  ["upstream break", "top-up"],
  ["upstream break", "held back"],
  ["upstream break", "client pause"],
  ["expiry", "renewal"],
  ["expiry", "top-up"],
  ["expiry", "held back"],
  ["expiry", "job"],
  ["end", "renewal"],
  ["end", "top-up"],
  ["end", "hand-over"],
  ["end", "outage"],
  ["hand-over", "renewal"],
  ["hand-over", "top-up"],
  ["hand-over", "outage"],
  ["job", "outage"],
  ["top-up", "job"],
  ["move", "outage"],
  ["tick", "move"],
  ["lost answer", "move"],
  ["refused commit", "move"],
  ["hang-up", "move"],
  ["drain", "move"],
  ["upstream break", "holding"],
  ["upstream end", "holding"],
  ["hang-up", "holding"],
  ["drain", "holding"],
  ["renewal", "holding"],
  ["expiry", "holding"],
  ["tick", "holding"],
  ["holding", "outage"],
  ["move", "job"],
  ["repeat", "opening"],
  ["repeat", "end"],
  ["repeat", "outage"],
  ["upstream break", "opening"],
  ["drain", "opening"],
  ["drain", "top-up"],
  ["drain", "held back"],
  ["drain", "client pause"],
  ["drain", "end"],
  ["drain", "outage"],
  ["client drain", "held back"],
  ["client drain", "top-up"],
  ["client message", "cover"],
  ["client message", "withheld"],
  ["cover", "outage"],
  ["hang-up", "withheld"],
  ["hang-up", "cover"],
  ["hang-up", "asked"],
  ["upstream break", "asked"],
  ["withheld", "asked"],
  ["upstream end", "withheld"],
  ["upstream break", "withheld"],
  ["hang-up", "answering"],
  ["drain", "answering"],
  ["renewal", "answering"],
  ["expiry", "answering"],
  ["upstream break", "answering"],
  ["upstream end", "answering"],
  ["repeat", "answering"],
  ["answering", "outage"],
  ["exhaustion", "outage"],
  ["lost answer", "withheld"],
  ["lost answer", "cover"],
  ["drain", "withheld"],
  ["withheld", "client pause"],
  ["held back", "client pause"],
  ["tick", "withheld"],
];

const world = "world";

export const nameOf = ([happening, span]: readonly [Happening, Span]): string => `${happening} during ${span}`;

export class Meetings {
  /** How often each pair met. */
  readonly counts = new Map<string, number>();
  readonly #onEvent: (line: string) => void;
  readonly #onBegin: (subject: string, span: Span) => void;
  /** Open spans by subject, with how often each is open. */
  readonly #open = new Map<string, Map<Span, number>>();

  /** `onEvent` receives every event, for the trace. */
  constructor(onEvent: (line: string) => void, onBegin: (subject: string, span: Span) => void) {
    this.#onEvent = onEvent;
    this.#onBegin = onBegin;
  }

  begin(subject: string, span: Span): void {
    this.happen(subject, span);
    const spans = this.#spansOf(subject);
    spans.set(span, (spans.get(span) ?? 0) + 1);
    this.#onBegin(subject, span);
  }

  end(subject: string, span: Span): void {
    const spans = this.#spansOf(subject);
    const left = (spans.get(span) ?? 0) - 1;
    if (left > 0) spans.set(span, left);
    else spans.delete(span);
    if (left >= 0) this.#onEvent(`${subject}: ${span} is over`);
  }

  isOpen(subject: string, span: Span): boolean {
    return this.#spansOf(subject).has(span);
  }

  /** Something happened to the subject. */
  happen(subject: string, happening: Happening): void {
    this.#onEvent(`${subject}: ${happening}`);
    for (const span of this.#spansOf(subject).keys()) this.#meet(happening, span);
    if (subject !== world) for (const span of this.#spansOf(world).keys()) this.#meet(happening, span);
  }

  /** Something happened to the whole world, and so to every subject. */
  happenToAll(happening: Happening): void {
    for (const spans of this.#open.values()) for (const span of spans.keys()) this.#meet(happening, span);
  }

  beginForAll(span: Span): void {
    this.begin(world, span);
  }

  endForAll(span: Span): void {
    this.end(world, span);
  }

  #spansOf(subject: string): Map<Span, number> {
    const known = this.#open.get(subject);
    if (known !== undefined) return known;
    const spans = new Map<Span, number>();
    this.#open.set(subject, spans);
    return spans;
  }

  #meet(happening: Happening, span: Span): void {
    const name = nameOf([happening, span]);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }
}
