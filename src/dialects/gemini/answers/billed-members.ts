import { type JsonObject, listOf, objectOf, objectsOf } from "../../../core/index.ts";

/** The queries of one candidate. */
interface Queries {
  webSearchQueries: readonly unknown[];
  imageSearchQueries: readonly unknown[];
}

/**
 * Collects what is billed of a stream into one answer: the last figures, the queries of each candidate, and the reason for which a
 * prompt was blocked. Google repeats the queries of a candidate in later chunks, and sends those of another candidate apart.
 */
export class BilledMembers {
  #usageMetadata: JsonObject | undefined;
  #modelVersion: unknown;
  #promptFeedback: JsonObject | undefined;
  #hasCandidates = false;
  #queries: Map<unknown, Queries> | undefined;

  /**
   * Takes the members of a chunk, or of a whole answer. Returns whether it has figures, or other billed members; undefined if it has
   * none. Without figures the earlier ones stay.
   */
  add(chunk: JsonObject): "figures" | "others" | undefined {
    const { modelVersion, promptFeedback, candidates, usageMetadata } = chunk;
    this.#modelVersion = modelVersion ?? this.#modelVersion;
    const feedback = objectOf(promptFeedback);
    if (feedback !== undefined) this.#promptFeedback = feedback;
    const hasQueries = candidates !== undefined && this.#addQueries(objectsOf(candidates));
    const metadata = objectOf(usageMetadata);
    if (metadata === undefined || !hasFigures(metadata))
      return hasQueries || feedback !== undefined ? "others" : undefined;
    this.#usageMetadata = metadata;
    return "figures";
  }

  /** An answer of which only these members are read. */
  get answer(): JsonObject {
    return {
      modelVersion: this.#modelVersion,
      usageMetadata: this.#usageMetadata,
      promptFeedback: this.#promptFeedback,
      ...(this.#hasCandidates && { candidates: this.#candidates }),
    };
  }

  get #candidates(): JsonObject[] {
    return [...(this.#queries ?? [])].map(([index, groundingMetadata]) => ({ index, groundingMetadata }));
  }

  /** Returns whether there are any. */
  #addQueries(candidates: readonly JsonObject[]): boolean {
    this.#hasCandidates = true;
    let isAny = false;
    for (const candidate of candidates) {
      const grounding = objectOf(candidate["groundingMetadata"]);
      if (grounding === undefined) continue;
      isAny = true;
      this.#queries ??= new Map();
      const index = candidate["index"] ?? 0;
      const before = this.#queries.get(index);
      this.#queries.set(index, {
        webSearchQueries: longer(before?.webSearchQueries, grounding["webSearchQueries"]),
        imageSearchQueries: longer(before?.imageSearchQueries, grounding["imageSearchQueries"]),
      });
    }
    return isAny;
  }
}

function hasFigures(metadata: JsonObject): boolean {
  return Object.values(metadata).some((count) => typeof count === "number" && count > 0);
}

function longer(before: readonly unknown[] = [], value: unknown): readonly unknown[] {
  const queries = listOf(value);
  return queries.length > before.length ? queries : before;
}
