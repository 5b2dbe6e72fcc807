/** The pages that a loop's tools have found, by the numbers that the model cites them with. */
export interface CitedSource {
  number: number;
  url: string;
  title: string;
  /** The part that the model has got. */
  text: string;
}

/** The characters of a source that a citation quotes. */
const QUOTED_CHARACTERS = 150;
/** Those that are read for it: a text may have any number of spaces. */
const READ_CHARACTERS = 2_000;

export class Sources {
  readonly #byNumber: CitedSource[] = [];
  readonly #byAddress = new Map<string, CitedSource>();

  get isEmpty(): boolean {
    return this.#byNumber.length === 0;
  }

  /** The same page keeps its number. */
  add(page: Omit<CitedSource, "number">): CitedSource {
    const key = addressKey(page.url);
    const known = this.#byAddress.get(key);
    if (known !== undefined) return known;
    const source = { ...page, number: this.#byNumber.length + 1 };
    this.#byNumber.push(source);
    this.#byAddress.set(key, source);
    return source;
  }

  withNumber(number: number): CitedSource | undefined {
    return this.#byNumber[number - 1];
  }

  withAddress(url: string): CitedSource | undefined {
    return this.#byAddress.get(addressKey(url));
  }
}

/** Equal for spellings of an address that a model does not keep apart. */
function addressKey(url: string): string {
  const [place = ""] = url.split("#", 1);
  const source = Math.max(place.lastIndexOf("?utm_source="), place.lastIndexOf("&utm_source="));
  const isLast = source !== -1 && !place.includes("&", source + 1);
  const key = isLast ? place.slice(0, source) : place;
  return key.endsWith("/") ? key.slice(0, -1) : key;
}

/** The beginning of its text, on one line. */
export function quoteOf({ text }: CitedSource): string {
  const beginning = text.slice(0, READ_CHARACTERS);
  return beginning.replaceAll(/\s+/g, " ").trim().slice(0, QUOTED_CHARACTERS);
}
