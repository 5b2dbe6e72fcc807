const LF = 0x0a;
const CR = 0x0d;
const CR_ALONE = Buffer.from("\r");

type Kind = "unknown" | "lf" | "cr";

/**
 * Ends the lines of an event stream with LF if they end with a CR alone, which the format allows. A stream whose first line ends with
 * LF or CRLF is not changed, and costs nothing more.
 */
export class LineEnds {
  #kind: Kind = "unknown";
  /** Of an unknown kind: a CR is kept back. Otherwise: the last byte was a CR, so that a LF after it ends no other line. */
  #isAfterCr = false;

  /** Takes the next bytes; returns the same bytes or changed ones. */
  toLf(bytes: Buffer): Buffer {
    if (this.#kind === "lf" || bytes.length === 0) return bytes;
    return this.#kind === "cr" ? this.#change(bytes) : this.#begin(bytes);
  }

  #begin(arrived: Buffer): Buffer {
    const bytes = this.#isAfterCr ? Buffer.concat([CR_ALONE, arrived]) : arrived;
    this.#kind = kindOf(bytes);
    this.#isAfterCr = false;
    if (this.#kind === "cr") return this.#change(bytes);
    if (this.#kind === "lf") return bytes;
    this.#isAfterCr = bytes.at(-1) === CR;
    return this.#isAfterCr ? bytes.subarray(0, -1) : bytes;
  }

  /** Latin-1 preserves every byte. */
  #change(bytes: Buffer): Buffer {
    const text = bytes.toString("latin1");
    const begin = this.#isAfterCr && text.startsWith("\n") ? 1 : 0;
    this.#isAfterCr = text.endsWith("\r");
    return Buffer.from(text.slice(begin).replaceAll(/\r\n?/g, "\n"), "latin1");
  }
}

/** By the end of the first line. */
function kindOf(bytes: Buffer): Kind {
  const [lf, cr] = [bytes.indexOf(LF), bytes.indexOf(CR)];
  if (cr === -1 || (lf !== -1 && lf < cr)) return lf === -1 ? "unknown" : "lf";
  if (cr === bytes.length - 1) return "unknown";
  return bytes[cr + 1] === LF ? "lf" : "cr";
}
