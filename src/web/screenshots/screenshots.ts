import { type Environment, randomId } from "../../core/index.ts";
import { BoundedBytes, type StoredBytes, type StoredBytesStore } from "../stored-bytes/index.ts";

/** The screenshots of one user. */
const COUNT_PER_USER_MAX = 2_000;
const BYTES_PER_USER_MAX = 256 * 1024 * 1024;

/** Bytes of one screenshot: a full page of some ten thousand pixels. */
const screenshotBytesMax = 16 * 1024 * 1024;

const TTL_MS = 24 * 3_600_000;

/** 165 random bits. The address needs no token, since browsers and tools load it without one. */
const ID_CHARACTERS = 32;
const ID = new RegExp(`^[0-9a-z]{${ID_CHARACTERS}}$`);

/** The path under which a screenshot is served, followed by its id. */
const screenshotPath = "/v2/screenshots/";

export interface ScreenshotsOptions {
  store: StoredBytesStore;
  environment: Pick<Environment, "clock" | "randomBytes">;
  /** The gateway's own address. */
  publicUrl: string;
}

/** Screenshots of pages, each at an address that cannot be guessed, for a day. */
export class Screenshots {
  readonly #bytes: BoundedBytes;
  readonly #options: ScreenshotsOptions;

  constructor(options: ScreenshotsOptions) {
    const bound = { countMax: COUNT_PER_USER_MAX, bytesMax: BYTES_PER_USER_MAX };
    this.#bytes = new BoundedBytes({ store: options.store, kind: "screenshot", bound });
    this.#options = options;
  }

  /** Stores a screenshot of at most `screenshotBytesMax`; resolves with its address. */
  async keep({ owner, mediaType, content }: Pick<StoredBytes, "owner" | "mediaType" | "content">): Promise<string> {
    if (content.byteLength > screenshotBytesMax) throw new RangeError("a screenshot is too large");
    const { environment, publicUrl } = this.#options;
    const storedAt = environment.clock();
    const id = randomId(environment.randomBytes, ID_CHARACTERS);
    await this.#bytes.put({ id, owner, mediaType, content, storedAt, keptUntil: storedAt + TTL_MS });
    return `${publicUrl}${screenshotPath}${id}`;
  }

  /** Finds a screenshot by its id, which is its only protection; undefined once its day is over. */
  async find(id: string): Promise<StoredBytes | undefined> {
    return ID.test(id) ? this.#bytes.find(id, this.#options.environment.clock()) : undefined;
  }
}
