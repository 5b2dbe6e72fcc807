/** The names of the tags: of many open models, and of Google's compatible layer. */
const names = ["think", "thought"];
const openings = names.map((name) => `<${name}>`);

/** A piece of content, and whether it is reasoning or text. */
export interface TaggedPiece {
  kind: "reasoning" | "text";
  text: string;
}

/**
 * Separates reasoning from content that begins with it between tags, however the content is cut:
 *
 *   undecided ──the tag, in full──▶ thinking ──its closing tag──▶ text
 *      └──anything else──▶ text
 */
export class ThinkTags {
  #state: "undecided" | "thinking" | "answering" = "undecided";
  #closing = "";
  /** A possible beginning of a tag. */
  #held = "";

  take(text: string): TaggedPiece[] {
    const whole = this.#held + text;
    this.#held = "";
    switch (this.#state) {
      case "undecided":
        return this.#decide(whole);
      case "thinking":
        return this.#think(whole);
      case "answering":
        return piece("text", whole);
    }
  }

  /** The retained characters when the content has ended. */
  flush(): TaggedPiece[] {
    const held = this.#held;
    this.#held = "";
    return piece(this.#state === "thinking" ? "reasoning" : "text", held);
  }

  #decide(whole: string): TaggedPiece[] {
    const start = whole.trimStart();
    const opening = openings.find((tag) => start.startsWith(tag));
    if (opening !== undefined) {
      this.#state = "thinking";
      this.#closing = `</${opening.slice(1)}`;
      return this.#think(start.slice(opening.length));
    }
    if (openings.some((tag) => tag.startsWith(start))) {
      this.#held = whole;
      return [];
    }
    this.#state = "answering";
    return piece("text", whole);
  }

  #think(whole: string): TaggedPiece[] {
    const closing = this.#closing;
    const close = whole.indexOf(closing);
    if (close !== -1) {
      this.#state = "answering";
      return [...piece("reasoning", whole.slice(0, close)), ...piece("text", whole.slice(close + closing.length))];
    }
    const keep = beginningAtEnd(whole, closing);
    this.#held = whole.slice(whole.length - keep);
    return piece("reasoning", whole.slice(0, whole.length - keep));
  }
}

function piece(kind: TaggedPiece["kind"], text: string): TaggedPiece[] {
  return text === "" ? [] : [{ kind, text }];
}

/** The number of characters at the end that may be the beginning of the closing tag. */
function beginningAtEnd(text: string, closing: string): number {
  for (let length = Math.min(text.length, closing.length - 1); length > 0; length -= 1) {
    if (text.endsWith(closing.slice(0, length))) return length;
  }
  return 0;
}
