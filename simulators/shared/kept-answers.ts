import { StoredBatches } from "./batches/stored-batches.ts";
import { SimulatorClock, StoredVideos } from "./videos/stored-videos.ts";
import { StoredFiles } from "./files/stored-files.ts";
import { asArray, asObject, type JsonObject } from "./json.ts";

/** An answer that a later request can name. */
export interface KeptAnswer {
  readonly body: JsonObject;
  /** The whole input, including earlier answers. */
  readonly input: readonly JsonObject[];
  /** Of a response in the background: its course. The body is that of its end. */
  readonly course?: ResponseCourse;
}

/** The course of a response in the background, by the simulators' clock in milliseconds. */
interface ResponseCourse {
  readonly createdAt: number;
  /** Whether it comes to no end by itself. */
  readonly isEndless: boolean;
  readonly isCancelled?: boolean;
}

const answersMax = 1_000;

/** The answers and files that one provider keeps; the oldest make room for new ones. */
export class KeptAnswers {
  readonly videos: StoredVideos;
  readonly batches: StoredBatches;
  readonly files = new StoredFiles();
  readonly #answers = new Map<string, KeptAnswer>();

  constructor(clock = new SimulatorClock()) {
    this.videos = new StoredVideos(clock);
    this.batches = new StoredBatches(clock);
  }

  /** Keeps an answer under the id in its body. */
  keep(answer: KeptAnswer): void {
    const id = String(answer.body["id"]);
    this.#answers.delete(id);
    this.#answers.set(id, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > answersMax && oldest !== undefined) this.#answers.delete(oldest);
  }

  get(id: string): KeptAnswer | undefined {
    return this.#answers.get(id);
  }

  delete(id: string): void {
    this.#answers.delete(id);
  }

  /** An item of any response that is kept. */
  item(id: string): JsonObject | undefined {
    for (const response of this.#answers.values()) {
      const found = itemsOf(response).find((item) => item["id"] === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The beginning of a response that continues this one: its input and its output. */
export function itemsOf({ body, input }: KeptAnswer): readonly JsonObject[] {
  return [...input, ...asArray(body["output"]).map(asObject)];
}
