/**
 * Observes a stream of images. OpenAI ends one with an event that contains an image and its usage; several images have
 * several such events, and only the upstream's close marks the last one. BytePlus sends each image in a separate event,
 * then one with the total usage, then `[DONE]`.
 *
 *   passing ──an event that may be the last──▶ retaining it ──another event──▶ both pass, passing again
 *      │                                          └──[DONE], or the upstream's close──▶ complete
 *      └──an error event──▶ failed
 *
 * The last event is therefore sent once the charge is durable, and the bytes stay unchanged.
 */
import {
  addUsage,
  inputTokens,
  outputTokens,
  type MediaVariant,
  type JsonObject,
  objectOf,
  type ObservedUsage,
  parseObject,
  type Usage,
  type UsageSide,
} from "../../core/index.ts";
import { type ReadUsage, dataOf, eventsOf, type StreamObserver } from "../../streaming/index.ts";
import { expectedImageTokens, variantIn } from "./delivered.ts";
import { IMAGE_FIELD, withoutImage } from "./image-text.ts";

const NOTHING = Buffer.alloc(0);

/** `image_generation.…` and `image_edit.…`. */
const NAMES: readonly [RegExp, EventKind][] = [
  [/\.partial_image$/, "preview"],
  [/\.partial_succeeded$/, "image"],
  [/\.completed$/, "completed"],
];

type EventKind = "preview" | "image" | "completed" | "error" | "done" | "other";

export class ImageStreamObserver implements StreamObserver {
  /** The whole output is images. */
  readonly outputBytes = 0;
  readonly #readUsage: ReadUsage;
  readonly #expectedInput: Usage;
  #held: Buffer = NOTHING;
  /** The sum of the usage of completed events. */
  #named: ObservedUsage | undefined;
  #images = 0;
  #image: MediaVariant = {};
  /** Tokens of images without reported usage. */
  #unnamedTokens = 0;
  /** The image with previews that is not complete yet. */
  #begun: MediaVariant | undefined;
  #ended = false;
  #done = false;
  #failed = false;

  /** `expectedInput`: the input, for a stream that breaks off before reporting it. */
  constructor(readUsage: ReadUsage, expectedInput: Usage) {
    this.#readUsage = readUsage;
    this.#expectedInput = expectedInput;
  }

  /** The reported usage, with the images so far. A started image counts: its previews were sent. */
  get usage(): ObservedUsage | undefined {
    const begun = this.#begun === undefined || this.#failed ? 0 : expectedImageTokens(this.#begun);
    const outputImage = this.#unnamedTokens + begun;
    if (this.#named === undefined && this.#images === 0 && outputImage === 0) return undefined;
    const base = this.#named ?? { usage: { ...this.#expectedInput, requests: 1 } };
    const seen: Usage = { images: this.#images, ...base.usage };
    const estimated: UsageSide[] = [
      ...(this.#named === undefined ? (["input"] as const) : []),
      ...(outputImage > 0 ? (["output"] as const) : []),
    ];
    return {
      ...base,
      usage: addUsage(seen, { outputImage }),
      variant: this.#image,
      ...(estimated.length > 0 && { estimated }),
    };
  }

  get done(): boolean {
    return this.#done;
  }

  get complete(): boolean {
    return this.#ended && this.#begun === undefined && !this.#failed;
  }

  get failed(): boolean {
    return this.#failed;
  }

  see(block: Buffer): Buffer {
    const shown: Buffer[] = [];
    for (const event of eventsOf(block)) this.#pass(event, shown);
    return shown.length === 1 ? (shown[0] ?? NOTHING) : Buffer.concat(shown);
  }

  close(): Buffer {
    return this.heldBack();
  }

  heldBack(): Buffer {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  #pass(event: Buffer, shown: Buffer[]): void {
    const data = dataOf(withoutImage(event));
    if (data === undefined) {
      // A comment does not show whether anything follows.
      shown.push(event);
      return;
    }
    const parsed = parseObject(data) ?? {};
    const kind = data.trim() === "[DONE]" ? "done" : kindOf(event, parsed);
    this.#note(kind, parsed);
    if (this.#held.length > 0) shown.push(this.heldBack());
    if (kind === "completed") this.#held = event;
    else shown.push(event);
  }

  #note(kind: EventKind, parsed: JsonObject): void {
    switch (kind) {
      case "preview":
        this.#begun = variantIn(parsed);
        return;
      case "image":
        this.#count(parsed);
        return;
      case "completed":
        this.#complete(parsed);
        return;
      case "error":
        this.#failed = true;
        this.#done = true;
        return;
      case "done":
        this.#ended = true;
        this.#done = true;
        return;
      default:
    }
  }

  #complete(parsed: JsonObject): void {
    this.#ended = true;
    this.#begun = undefined;
    const observed = this.#readUsage(parsed);
    // BytePlus's last event contains no image.
    if (IMAGE_FIELD in parsed) {
      this.#count(parsed);
      if (observed === undefined || isWithoutOutput(observed.usage))
        this.#unnamedTokens += expectedImageTokens(variantIn(parsed));
    }
    if (observed === undefined) return;
    const { usage, reportedCost, uncounted = observed.uncounted } = this.#named ?? { usage: {} };
    const cost = observed.reportedCost === undefined ? reportedCost : (reportedCost ?? 0n) + observed.reportedCost;
    const requests = Math.max(usage.requests ?? 0, observed.usage.requests ?? 0);
    this.#named = {
      usage: { ...addUsage(usage, observed.usage), requests },
      ...(uncounted === undefined ? {} : { uncounted }),
      ...(cost === undefined ? {} : { reportedCost: cost }),
    };
  }

  #count(parsed: JsonObject): void {
    const variant = variantIn(parsed);
    const same = this.#images === 0 || this.#image.size === variant.size;
    this.#image = same ? variant : { ...variant, size: undefined };
    this.#images += 1;
  }
}

/** Whether an upstream that counts tokens has counted none of an image. */
function isWithoutOutput(usage: Usage): boolean {
  return inputTokens(usage) > 0 && outputTokens(usage) === 0;
}

function kindOf(event: Buffer, parsed: JsonObject): EventKind {
  const name = nameOf(event) ?? parsed["type"];
  if (name === "error") return "error";
  if (typeof name === "string") return NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
  return objectOf(parsed["error"]) === undefined ? "other" : "error";
}

/** The name in the event's own line, which comes before its data. */
function nameOf(event: Buffer): string | undefined {
  return /^event: ?([\w.]+)\r?$/m.exec(event.toString("latin1", 0, 200))?.[1];
}
