/**
 * BytePlus's stream of images in OpenAI's events, for clients that know no others. Each finished image is a `completed` event; the last one has the
 * usage and the images that failed, so it waits for the next event.
 */
import { type JsonObject, objectOf, parseObject, stringOf } from "../../core/index.ts";
import { dataOf, eventsOf, type StreamObserver } from "../../streaming/index.ts";
import { namedEvent } from "../named-events.ts";
import { imageIn, withoutImage } from "./image-text.ts";
import type { ImageEvents } from "./write-events.ts";

/** An image that failed, by its place among those that were asked for. */
interface FailedImage {
  index: unknown;
  error: unknown;
}

interface FinishedImage {
  members: JsonObject;
  /** Its base64; undefined for an image with an address. */
  base64: Buffer | undefined;
}

/** An observer, whose bytes for the client have OpenAI's events. */
export class OpenaiImageStream implements StreamObserver {
  readonly #inner: StreamObserver;
  readonly #writer: OpenaiImageWriter;

  /** `format` is that of the images if the upstream does not name it. */
  constructor(inner: StreamObserver, events: ImageEvents, format: string) {
    this.#inner = inner;
    this.#writer = new OpenaiImageWriter(events, format);
  }

  get usage() {
    return this.#inner.usage;
  }

  get outputBytes() {
    return this.#inner.outputBytes;
  }

  get done() {
    return this.#inner.done;
  }

  get complete() {
    return this.#inner.complete;
  }

  get failed() {
    return this.#inner.failed;
  }

  see(block: Buffer): Buffer {
    return this.#writer.write(this.#inner.see(block));
  }

  close(): Buffer {
    return this.#rest(this.#inner.close?.());
  }

  heldBack(): Buffer {
    return this.#rest(this.#inner.heldBack?.());
  }

  #rest(held: Buffer = Buffer.alloc(0)): Buffer {
    return Buffer.concat([this.#writer.write(held), this.#writer.flush()]);
  }
}

class OpenaiImageWriter {
  readonly #events: ImageEvents;
  readonly #format: string;
  readonly #failed: FailedImage[] = [];
  #last: FinishedImage | undefined;
  #images = 0;

  constructor(events: ImageEvents, format: string) {
    this.#events = events;
    this.#format = format;
  }

  write(block: Buffer): Buffer {
    return Buffer.concat([...eventsOf(block)].flatMap((event) => this.#one(event)));
  }

  /** The image that waited, without the usage. */
  flush(): Buffer {
    const last = this.#last;
    this.#last = undefined;
    return last === undefined ? Buffer.alloc(0) : this.#written(last, {});
  }

  #one(event: Buffer): Buffer[] {
    const data = dataOf(withoutImage(event));
    const parsed = data === undefined ? undefined : parseObject(data);
    if (parsed === undefined) return [event];
    const type = stringOf(parsed["type"]);
    if (type.endsWith(".partial_failed")) {
      this.#failed.push({ index: parsed["image_index"], error: parsed["error"] });
      return [];
    }
    const before = type.endsWith(".partial_succeeded") || !type.endsWith(".completed") ? this.flush() : undefined;
    if (type.endsWith(".partial_succeeded")) {
      this.#images += 1;
      this.#last = { members: parsed, base64: imageIn(event) };
      return before === undefined ? [] : [before];
    }
    if (type.endsWith(".completed") && parsed["b64_json"] === undefined && parsed["url"] === undefined) {
      return [this.#end(parsed)];
    }
    return before === undefined ? [event] : [before, event];
  }

  #end({ type: _type, ...rest }: JsonObject): Buffer {
    const last = this.#last;
    this.#last = undefined;
    const more = { ...rest, ...(this.#failed.length > 0 && { failed: this.#failed }) };
    if (last !== undefined) return this.#written(last, more);
    if (this.#images > 0) return Buffer.alloc(0);
    const { code, message } = objectOf(this.#failed[0]?.error) ?? {};
    const error = {
      message: message ?? "The upstream has made no image.",
      type: "image_generation_user_error",
      code: code ?? null,
      param: null,
    };
    return Buffer.from(namedEvent({ ...more, type: "error", error }));
  }

  #written({ members, base64 }: FinishedImage, more: JsonObject): Buffer {
    const { type: _type, created, b64_json: _image, ...own } = members;
    const type = `${this.#events}.completed`;
    const described = { quality: "auto", background: "auto", output_format: this.#format };
    const text = JSON.stringify({ type, created_at: created ?? 0, ...described, ...own, ...more });
    const head = `event: ${type}\ndata: `;
    if (base64 === undefined) return Buffer.from(`${head}${text}\n\n`);
    return Buffer.concat([Buffer.from(`${head}${text.slice(0, -1)},"b64_json":"`), base64, Buffer.from('"}\n\n')]);
  }
}
