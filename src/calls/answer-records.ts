/** What is stored about an answer, so that later calls may refer to it: the response, and the owner of its objects. */
import {
  type CreatedObjects,
  type JsonObject,
  limits,
  type ObservedUsage,
  parseObject,
  type StoredObject,
} from "../core/index.ts";
import { finalResponseOf, finalResponseWords } from "../objects/index.ts";
import { type StreamObserver, tapEvents } from "../streaming/index.ts";

/** The records that a call's answer leads to, each with the id of the key that made the answer. */
export interface AnswerRecords {
  objects: ObjectRecords | undefined;
  /** Stores the response for later calls. */
  storeResponse: ((response: JsonObject, keyId: string) => Promise<void>) | undefined;
  /** Keeps the thoughts before the answer's calls, for a client that may lose them. */
  keepThoughts?: (() => Promise<void>) | undefined;
}

export interface ObjectRecords {
  created: CreatedObjects;
  /** The objects among these that earlier answers to the same user contained. */
  known: (objects: readonly StoredObject[]) => Promise<StoredObject[]>;
  record: (objects: readonly StoredObject[], keyId: string) => Promise<void>;
}

/** Begins to collect the records of one answer. */
export function captureRecords(records: AnswerRecords): RecordCapture {
  return new RecordCapture(records);
}

export class RecordCapture {
  readonly #records: AnswerRecords;
  readonly #objects = new Map<string, StoredObject>();
  #response: JsonObject | undefined;
  /** The ids of its containers that an earlier answer has begun. */
  #continued: readonly string[] = [];

  constructor(records: AnswerRecords) {
    this.#records = records;
  }

  /** The whole response, once it has been collected. */
  get response(): JsonObject | undefined {
    return this.#response;
  }

  /** Collects from a stream, also from one that breaks off. */
  observe(observer: StreamObserver): StreamObserver {
    const { objects, storeResponse } = this.#records;
    const words = [...(objects?.created.words ?? []), ...(storeResponse === undefined ? [] : finalResponseWords)];
    if (words.length === 0) return observer;
    return tapEvents(observer, {
      words: [...new Set(words)],
      onEvent: (event) => {
        this.#addObjects(event);
        this.#response ??= finalResponseOf(event);
      },
    });
  }

  /** Collects from a whole answer, as JSON text. */
  readWhole(text: string): void {
    const answer = parseObject(text) ?? {};
    this.#addObjects(answer);
    this.#response = answer;
  }

  /** Durable when it resolves. */
  async save(keyId: string): Promise<void> {
    const { objects, storeResponse, keepThoughts } = this.#records;
    const response = this.#response;
    const created = [...this.#objects.values()];
    const containers = created.filter(({ kind }) => kind === "container");
    if (objects !== undefined && containers.length > 0) {
      this.#continued = (await objects.known(containers)).map(({ id }) => id);
    }
    if (created.length > 0) await objects?.record(created, keyId);
    if (response !== undefined) await storeResponse?.(response, keyId);
    await keepThoughts?.();
  }

  /** The usage without the containers that an earlier answer has begun, and paid for. Complete once the records are saved. */
  withoutContinued(observed: ObservedUsage): ObservedUsage {
    const { usage, containers } = observed;
    if (containers === undefined || this.#continued.length === 0) return observed;
    const paid = this.#continued.reduce((sum, id) => sum + (containers.get(id) ?? 0), 0);
    return { ...observed, usage: { ...usage, containerGb: (usage.containerGb ?? 0) - paid } };
  }

  #addObjects(answer: JsonObject): void {
    for (const object of this.#records.objects?.created.read(answer) ?? []) {
      if (this.#objects.size >= limits.createdObjectsMax) return;
      this.#objects.set(`${object.kind} ${object.id}`, object);
    }
  }
}
