const OPEN = "<think>";
const CLOSE = "</think>";

/** A piece of content, and whether it is reasoning or text. */
export interface TaggedPiece {
  kind: "reasoning" | "text";
  text: string;
}

/**
 * Separates reasoning from content that begins with it between tags, however the content is cut:
 *
 *   undecided ──the tag, in full──▶ thinking ──the closing tag──▶ text
 *      └──anything else──▶ text
 */
export class ThinkTags {
  #state: "undecided" | "thinking" | "said" = "undecided";
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
      case "said":
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
    if (start.startsWith(OPEN)) {
      this.#state = "thinking";
      return this.#think(start.slice(OPEN.length));
    }
    if (OPEN.startsWith(start)) {
      this.#held = whole;
      return [];
    }
    this.#state = "said";
    return piece("text", whole);
  }

  #think(whole: string): TaggedPiece[] {
    const close = whole.indexOf(CLOSE);
    if (close !== -1) {
      this.#state = "said";
      return [...piece("reasoning", whole.slice(0, close)), ...piece("text", whole.slice(close + CLOSE.length))];
    }
    const keep = beginningAtEnd(whole);
    this.#held = whole.slice(whole.length - keep);
    return piece("reasoning", whole.slice(0, whole.length - keep));
  }
}

function piece(kind: TaggedPiece["kind"], text: string): TaggedPiece[] {
  return text === "" ? [] : [{ kind, text }];
}

/** The number of characters at the end that may be the beginning of the closing tag. */
function beginningAtEnd(text: string): number {
  for (let length = Math.min(text.length, CLOSE.length - 1); length > 0; length -= 1) {
    if (text.endsWith(CLOSE.slice(0, length))) return length;
  }
  return 0;
}
