import { describe, expect, test } from "bun:test";
import type { Fetch } from "../core/index.ts";
import { createProvider } from "../providers/index.ts";
import { KeyPool, type UpstreamRoute } from "./index.ts";
import { fetchListing } from "./fetch-listing.ts";

const baseUrl = "https://upstream.example";

function routeWith(...keys: string[]): UpstreamRoute {
  return {
    prefix: "up",
    aliases: [],
    provider: createProvider({ kind: "openai", baseUrl }),
    baseUrl,
    keys: new KeyPool(keys, () => 1_000_000),
    sandbox: false,
    sharedStores: false,
    listing: { listed: [] },
    requiredVariable: undefined,
  };
}

const answering =
  (answer: () => Response): Fetch =>
  async () =>
    answer();

/** The message of the error with which a listing fails. */
async function failureOf(listing: Promise<unknown>): Promise<string> {
  const reason = await listing.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(reason instanceof Error)) throw new Error("it did not fail");
  return reason.message;
}

describe("a key", () => {
  test.each<[number, string[]]>([
    [401, ["b", "b"]],
    [429, ["b", "b"]],
    [500, ["b", "a"]],
    [404, ["b", "a"]],
  ])("whose listing was answered with %p: the next keys are %j", async (status, next) => {
    const route = routeWith("a", "b");
    const fetch = answering(() => new Response("no", { status }));
    expect(await failureOf(fetchListing(fetch, route))).toBe(`the listing answered ${status}`);
    expect([route.keys.acquire()?.secret, route.keys.acquire()?.secret]).toEqual(next);
  });
});

describe("a page", () => {
  test("that never ends is read up to the bound", async () => {
    let cancelled = false;
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1024 * 1024;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
      cancel() {
        cancelled = true;
      },
    });
    const listing = fetchListing(
      answering(() => new Response(endless)),
      routeWith("a"),
    );
    expect(await failureOf(listing)).toBe("the listing is longer than 16777216 bytes");
    expect(cancelled).toBe(true);
    expect(sent).toBeLessThan(24 * 1024 * 1024);
  });

  test.each(["", "[]", "<html>", '{"data":[{"id":"m"}]'])("that is no JSON object fails: %p", async (text) => {
    const listing = fetchListing(
      answering(() => new Response(text)),
      routeWith("a"),
    );
    expect(await failureOf(listing)).toBe("the listing is no JSON object");
  });

  test("is read", async () => {
    const listing = fetchListing(
      answering(() => Response.json({ data: [{ id: "m" }] })),
      routeWith("a"),
    );
    expect(await listing).toMatchObject([{ id: "m" }]);
  });
});
