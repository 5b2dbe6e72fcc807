import { type EncryptionKey, secretBox, SecretError } from "../../storage/index.ts";
import type { RandomBytes } from "../../core/index.ts";
import { RpcError, rpcCodes } from "../../mcp/index.ts";

/** Readers of base64 would ignore whatever follows its end. */
const SEALED = /^v1\.[0-9a-f]+\.[A-Za-z0-9+/]+={0,2}$/;

export interface RequestStatesOptions {
  key: EncryptionKey;
  randomBytes: RandomBytes;
}

/**
 * The state that a server gives with its questions, and that the client returns with the answers. It is sealed for the user and the
 * request that it belongs to, so that any node opens it, and nobody goes on with the request of another.
 */
export class RequestStates {
  readonly #options: RequestStatesOptions;

  constructor(options: RequestStatesOptions) {
    this.#options = options;
  }

  /** Whether there is a key by which other processes can open what this one has sealed. */
  get canSeal(): boolean {
    return this.#options.key.findOrMake() !== undefined;
  }

  /** Throws an `RpcError` without a key. `owner`: the user, and the request. */
  seal(state: string, owner: readonly string[]): string {
    return this.#box().seal(state, JSON.stringify(owner), this.#options.randomBytes);
  }

  /** Throws -32602 for a state that was sealed for another owner, or not here. */
  open(sealed: string, owner: readonly string[]): string {
    try {
      if (!SEALED.test(sealed)) throw new SecretError("this is no sealed state");
      return this.#box().open(sealed, JSON.stringify(owner));
    } catch {
      throw new RpcError(rpcCodes.invalidParams, "requestState is not that of this request of yours.");
    }
  }

  #box(): ReturnType<typeof secretBox> {
    const text = this.#options.key.findOrMake();
    // A key of one process would not open the states of other nodes.
    if (text === undefined)
      throw new RpcError(
        rpcCodes.invalidRequest,
        "Servers that ask for input need webhooks.encryption_key on Postgres.",
      );
    const noun = "state of a request";
    return secretBox(text, { label: "tollgate states of requests to servers of tools", noun, remedy: "begin again" });
  }
}
