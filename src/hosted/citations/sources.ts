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
  return url
    .replace(/#.*$/, "")
    .replace(/[?&]utm_source=[^&]*$/, "")
    .replace(/\/$/, "");
}

export function quoteOf({ text }: CitedSource): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, QUOTED_CHARACTERS);
}
