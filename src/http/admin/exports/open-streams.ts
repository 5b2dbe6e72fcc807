import { GatewayError } from "../../../core/index.ts";

interface Bounds {
  /** Streams at once in one process. */
  max: number;
  /** Those of one user among them. */
  ofUserMax: number;
}

/** Bounds the answers that last and that ask the storage again and again. */
export class OpenStreams {
  readonly #what: string;
  readonly #bounds: Bounds;
  /** The users of the open streams of each store. */
  readonly #open = new WeakMap<object, string[]>();

  constructor(what: string, bounds: Bounds) {
    this.#what = what;
    this.#bounds = bounds;
  }

  /** Opens a stream, which the returned function ends. Throws 429 if there are too many. */
  open(store: object, user: string): () => void {
    const { max, ofUserMax } = this.#bounds;
    const users = this.#open.get(store) ?? [];
    this.#open.set(store, users);
    if (users.length >= max) throw this.#tooMany(`This process has ${max} streams ${this.#what} already.`);
    if (users.filter((each) => each === user).length >= ofUserMax)
      throw this.#tooMany(`Your user has ${ofUserMax} streams ${this.#what} in this process already.`);
    users.push(user);
    return () => users.splice(users.indexOf(user), 1);
  }

  #tooMany(message: string): GatewayError {
    return new GatewayError("rate_limit_exceeded", message, { retryAfterSeconds: 10 });
  }
}
