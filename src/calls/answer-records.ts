/** What is stored about an answer, so that later calls may refer to it: the response, and the owner of its objects. */
import { type CreatedObjects, type JsonObject, limits, parseObject, type StoredObject } from "../core/index.ts";
import { finalResponseOf, finalResponseWords } from "../objects/index.ts";
import { type StreamObserver, tapEvents } from "../streaming/index.ts";

/** The records that a call's answer leads to, each with the id of the key that made the answer. */
export interface AnswerRecords {
  objects: ObjectRecords | undefined;
  /** Stores the response for later calls. */
  storeResponse: ((response: JsonObject, keyId: string) => Promise<void>) | undefined;
}

export interface ObjectRecords {
  created: CreatedObjects;
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

  constructor(records: AnswerRecords) {
    this.#records = records;
  }

  /** Collects from a stream, also from one that breaks off. */
  observe(observer: StreamObserver): StreamObserver {
    const { objects, storeResponse } = this.#records;
    const words = [...(objects?.created.words ?? []), ...(storeResponse === undefined ? [] : finalResponseWords)];
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
    const { objects, storeResponse } = this.#records;
    const response = this.#response;
    if (this.#objects.size > 0) await objects?.record([...this.#objects.values()], keyId);
    if (response !== undefined) await storeResponse?.(response, keyId);
  }

  #addObjects(answer: JsonObject): void {
    for (const object of this.#records.objects?.created.read(answer) ?? []) {
      if (this.#objects.size >= limits.createdObjectsMax) return;
      this.#objects.set(`${object.kind} ${object.id}`, object);
    }
  }
}
