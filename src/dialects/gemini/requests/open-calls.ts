interface Call {
  id: string;
  hasResult: boolean;
}

/** Calls in their order, of which those at the beginning that have results are not looked at again. */
class CallQueue {
  readonly #calls: Call[] = [];
  #next = 0;

  add(call: Call): void {
    this.#calls.push(call);
  }

  get first(): Call | undefined {
    while (this.#calls[this.#next]?.hasResult === true) this.#next += 1;
    return this.#calls[this.#next];
  }
}

/**
 * The calls of a conversation that have no result yet: Google's own have often no ids, and clients change them. The time for each
 * does not depend on how many there are.
 */
export class OpenCalls {
  readonly #byId = new Map<string, CallQueue>();
  readonly #byName = new Map<string, CallQueue>();

  /** The id of a call: its own, or one by its place, which is the same in the next request. */
  begin(given: string | undefined, name: string, at: string): string {
    const id = given === undefined || given === "" ? `call_${at.replaceAll(/\D+/g, "_").replace(/^_/, "")}` : given;
    const call = { id, hasResult: false };
    queueIn(this.#byId, id).add(call);
    queueIn(this.#byName, name).add(call);
    return id;
  }

  /** The id of the call that a result belongs to: of the same id, else the first of that name; undefined if there is none. */
  end(given: string | undefined, name: string): string | undefined {
    const same = given === undefined || given === "" ? undefined : this.#byId.get(given)?.first;
    const call = same ?? this.#byName.get(name)?.first;
    if (call !== undefined) call.hasResult = true;
    return call?.id;
  }
}

function queueIn(queues: Map<string, CallQueue>, key: string): CallQueue {
  const queue = queues.get(key) ?? new CallQueue();
  queues.set(key, queue);
  return queue;
}
