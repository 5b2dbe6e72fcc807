/** The calls of a conversation that have no result yet: Google's own have often no ids, and clients change them. */
export class OpenCalls {
  readonly #open: { id: string; name: string }[] = [];

  /** The id of a call: its own, or one by its place, which is the same in the next request. */
  begin(given: string | undefined, name: string, at: string): string {
    const id = given === undefined || given === "" ? `call_${at.replaceAll(/\D+/g, "_").replace(/^_/, "")}` : given;
    this.#open.push({ id, name });
    return id;
  }

  /** The id of the call that a result belongs to: of the same id, else the first of that name; undefined if there is none. */
  end(given: string | undefined, name: string): string | undefined {
    const same = given === undefined || given === "" ? -1 : this.#open.findIndex(({ id }) => id === given);
    const at = same === -1 ? this.#open.findIndex((call) => call.name === name) : same;
    return at === -1 ? undefined : this.#open.splice(at, 1)[0]?.id;
  }
}
