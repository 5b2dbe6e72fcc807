import type { JsonObject } from "../core/index.ts";

/** The pages of a list of the protocol, one after the other; the caller of the generator ends it when it has enough. */
export async function* listPages(
  pagesMax: number,
  ask: (params: JsonObject) => Promise<JsonObject>,
): AsyncGenerator<JsonObject, void, undefined> {
  let cursor: unknown;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const page = await ask(cursor === undefined ? {} : { cursor });
    yield page;
    cursor = page["nextCursor"];
    if (typeof cursor !== "string") return;
  }
}
