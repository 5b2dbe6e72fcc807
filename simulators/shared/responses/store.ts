import { asArray, asObject, type JsonObject } from "../json.ts";

/** A response that can be looked up and continued. */
export interface StoredResponse {
  readonly body: JsonObject;
  /** Every item that went into it, those of earlier responses first. */
  readonly input: readonly JsonObject[];
}

const responsesMax = 1_000;

/** The responses that one provider keeps; the oldest make room for new ones. */
export class ResponseStore {
  readonly #responses = new Map<string, StoredResponse>();

  keep(response: StoredResponse): void {
    const id = String(response.body["id"]);
    this.#responses.delete(id);
    this.#responses.set(id, response);
    const [oldest] = this.#responses.keys();
    if (this.#responses.size > responsesMax && oldest !== undefined) this.#responses.delete(oldest);
  }

  get(id: string): StoredResponse | undefined {
    return this.#responses.get(id);
  }

  delete(id: string): void {
    this.#responses.delete(id);
  }

  /** An item of any response that is kept. */
  item(id: string): JsonObject | undefined {
    for (const response of this.#responses.values()) {
      const found = itemsOf(response).find((item) => item["id"] === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** What a response that continues this one begins with: its input and its output. */
export function itemsOf({ body, input }: StoredResponse): readonly JsonObject[] {
  return [...input, ...asArray(body["output"]).map(asObject)];
}
