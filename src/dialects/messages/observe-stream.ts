import { type JsonObject, objectOf, type ObservedUsage, parseObject } from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsWith, type StreamObserver } from "../../streaming/index.ts";
import { GeneratedBytesMeter, generatedKeys } from "../generated-bytes.ts";
import { StreamFigures } from "./answers/usage.ts";

/** Text, thoughts and arguments, but neither quotations nor the results of tools. */
const streamedKeys = generatedKeys(["text", "thinking", "partial_json"], ["cited_text", "content"]);

/** Events with more than text: only events whose names begin with one of these are parsed. */
const NAMES = ['"message_', '"error"'].map((name) => Buffer.from(name));

/** The observer of a Messages stream. Every byte passes unchanged. */
export class MessagesStreamObserver implements StreamObserver {
  readonly #readUsage: ReadUsage;
  readonly #figures = new StreamFigures();
  readonly #generated = new GeneratedBytesMeter(streamedKeys);
  #done = false;
  #failed = false;
  #stopped = false;

  constructor(readUsage: ReadUsage) {
    this.#readUsage = readUsage;
  }

  get usage(): ObservedUsage | undefined {
    return this.#readUsage({ usage: this.#figures.read(this.#done && this.#generated.bytes === 0) });
  }

  get outputBytes(): number {
    return this.#generated.bytes;
  }

  get done(): boolean {
    return this.#done;
  }

  get complete(): boolean {
    return this.#done || this.#stopped;
  }

  get failed(): boolean {
    return this.#failed;
  }

  see(block: Buffer): Buffer {
    this.#generated.add(block);
    for (const event of eventsWith(block, NAMES)) this.#note(parseObject(dataOf(event) ?? "") ?? {});
    return block;
  }

  #note(event: JsonObject): void {
    switch (event["type"]) {
      case "message_start":
        this.#figures.start(objectOf(objectOf(event["message"])?.["usage"]) ?? {});
        return;
      case "message_delta":
        this.#figures.add(objectOf(event["usage"]) ?? {});
        this.#stopped ||= typeof objectOf(event["delta"])?.["stop_reason"] === "string";
        return;
      case "message_stop":
        this.#done = true;
        return;
      case "error":
        this.#failed = true;
    }
  }
}
