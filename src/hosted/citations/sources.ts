/** The pages that a loop's tools have found, by the numbers that the model cites them with. */
export interface Source {
  number: number;
  url: string;
  title: string;
  /** The part that the model has got. */
  text: string;
}

/** The characters of a source that a citation quotes. */
const QUOTED_CHARACTERS = 150;

export class Sources {
  readonly #byNumber: Source[] = [];
  readonly #byAddress = new Map<string, Source>();

  get isEmpty(): boolean {
    return this.#byNumber.length === 0;
  }

  /** The same page keeps its number. */
  add(page: Omit<Source, "number">): Source {
    const key = addressKey(page.url);
    const known = this.#byAddress.get(key);
    if (known !== undefined) return known;
    const source = { ...page, number: this.#byNumber.length + 1 };
    this.#byNumber.push(source);
    this.#byAddress.set(key, source);
    return source;
  }

  withNumber(number: number): Source | undefined {
    return this.#byNumber[number - 1];
  }

  withAddress(url: string): Source | undefined {
    return this.#byAddress.get(addressKey(url));
  }
}

/** Equal for spellings of an address that a model does not keep apart. */
function addressKey(url: string): string {
  return url
    .replace(/#.*$/, "")
    .replace(/[?&]utm_source=[^&]*$/, "")
    .replace(/\/$/, "");
}

export function quoteOf({ text }: Source): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, QUOTED_CHARACTERS);
}
