/**
 * The content of a search result that the gateway has found. Clients keep it for the next request as `encrypted_content`, which they
 * do not read. It opens for its own user alone: of anybody else's, and of another maker's, the title and the address are left.
 */
import type { RandomBytes } from "../../core/index.ts";
import { ownResultStart, packResult, unpackResult } from "../../dialects/index.ts";
import { type EncryptionKey, secretBox, type SecretBox, SecretError } from "../../storage/index.ts";

interface SealedResultsOptions {
  key: EncryptionKey;
  randomBytes: RandomBytes;
}

/** The seal of one user's results. */
export interface ResultSeal {
  seal: (text: string) => string;
  /** Undefined for the content of another maker or user. */
  open: (content: unknown) => string | undefined;
}

export class SealedResults {
  readonly #options: SealedResultsOptions;
  #box: SecretBox | undefined;

  constructor(options: SealedResultsOptions) {
    this.#options = options;
  }

  of(user: string): ResultSeal {
    return { seal: (text) => this.#seal(text, user), open: (content) => this.#open(content, user) };
  }

  #seal(text: string, user: string): string {
    const box = this.#boxNow(() => this.#options.key.findOrMake());
    // A key of one process would not open the results of other nodes.
    return box === undefined ? packResult(text) : ownResultStart + box.seal(text, user, this.#options.randomBytes);
  }

  #open(content: unknown, user: string): string | undefined {
    if (typeof content !== "string" || !content.startsWith(ownResultStart)) return undefined;
    const box = this.#boxNow(() => this.#options.key.find());
    if (box === undefined) return unpackResult(content);
    try {
      return box.open(content.slice(ownResultStart.length), user);
    } catch (thrown) {
      if (thrown instanceof SecretError) return undefined;
      throw thrown;
    }
  }

  #boxNow(find: () => string | undefined): SecretBox | undefined {
    if (this.#box !== undefined) return this.#box;
    const text = find();
    if (text !== undefined) {
      const kind = { label: "tollgate results of searches", noun: "result of a search", remedy: "search again" };
      this.#box = secretBox(text, kind);
    }
    return this.#box;
  }
}
