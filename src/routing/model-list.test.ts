import { afterEach, beforeEach, describe, expect, jest, test } from "bun:test";
import type { Fetch } from "../core/index.ts";
import { createProvider } from "../providers/index.ts";
import { KeyPool, type UpstreamRoute, ModelList } from "./index.ts";

type Kind = "openai" | "anthropic" | "google" | "byteplus" | "xai";

/** An upstream's answer to a request for its models. */
type Behaviour = (url: string, init: RequestInit) => Response | Promise<Response>;

let now: number;
let fetched: string[];
let behaviours: Record<string, Behaviour>;
let failures: [string, unknown][];
let headers: Headers;

beforeEach(() => {
  jest.useFakeTimers();
  now = 1_000_000;
  fetched = [];
  behaviours = {};
  failures = [];
});
afterEach(() => {
  jest.useRealTimers();
});

/** Runs everything that doesn't wait for a timer. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

async function advance(milliseconds: number): Promise<void> {
  now += milliseconds;
  jest.advanceTimersByTime(milliseconds);
  await turns();
}

function route(prefix: string, kind: Kind = "openai", overrides: Partial<UpstreamRoute> = {}): UpstreamRoute {
  const baseUrl = `https://${prefix}.example`;
  return {
    prefix,
    aliases: [],
    provider: createProvider({ kind, baseUrl }),
    baseUrl,
    keys: new KeyPool([`key-of-${prefix}`], () => now),
    sandbox: false,
    sharedStores: false,
    listing: { listed: [] },
    requiredVariable: undefined,
    ...overrides,
  };
}

const fetchListing: Fetch = async (url, init) => {
  fetched.push(url);
  headers = new Headers(init.headers);
  const behave = behaviours[new URL(url).hostname.replace(".example", "")];
  if (behave === undefined) throw new Error(`no upstream at ${url}`);
  return behave(url, init);
};

function listOf(...routes: UpstreamRoute[]): ModelList {
  return new ModelList({
    routes,
    priced: ["priced/own", "priced/a", "elsewhere/x"],
    environment: { clock: () => now, fetch: fetchListing },
    onFailure: (prefix, reason) => failures.push([prefix, reason]),
  });
}

async function idsOf(list: ModelList): Promise<string[]> {
  return (await list.list()).map((listed) => `${listed.route.prefix}/${listed.model.id}`);
}

const lists =
  (...ids: string[]): Behaviour =>
  () =>
    Response.json({ object: "list", data: ids.map((id) => ({ id })) });

/** An upstream that answers when `answer` is called. */
function slow(): { behave: Behaviour; answer: (response: Response) => void } {
  const { promise, resolve } = Promise.withResolvers<Response>();
  return { behave: () => promise, answer: resolve };
}

describe("the list", () => {
  test("merges the listings in the order of the configuration", async () => {
    behaviours = { one: lists("b", "a"), two: lists("c") };
    expect(await idsOf(listOf(route("one"), route("byteplus", "byteplus"), route("two")))).toEqual([
      "one/b",
      "one/a",
      "byteplus/seed-1-8-251228",
      "byteplus/seed-1-6-250915",
      "byteplus/seed-1-6-flash-250715",
      "byteplus/seedream-4-0-250828",
      "byteplus/seedream-4-5-251128",
      "byteplus/seedream-5-0-260128",
      "byteplus/dreamina-seedance-2-0-260128",
      "byteplus/dreamina-seedance-2-0-fast-260128",
      "byteplus/seedance-1-5-pro-251215",
      "two/c",
    ]);
  });

  test("ends, for each provider, with the models that it does not list and that have a price", async () => {
    behaviours = { one: lists("c"), priced: lists("b", "a"), xai: lists("grok-4", "grok-tts") };
    expect(await idsOf(listOf(route("priced"), route("one"), route("xai", "xai")))).toEqual([
      "priced/b",
      "priced/a",
      "priced/own",
      "one/c",
      "xai/grok-4",
      "xai/grok-tts",
      "xai/grok-stt",
      "xai/grok-voice-latest",
    ]);
  });

  test("omits a provider without a key, and sends it no request", async () => {
    behaviours = { one: lists("a"), keyless: lists("b") };
    expect(
      await idsOf(listOf(route("one"), route("keyless", "openai", { requiredVariable: "KEYLESS_API_KEY" }))),
    ).toEqual(["one/a"]);
    expect(fetched).toEqual(["https://one.example/models"]);
  });

  test("is requested with the upstream's key and without following redirects", async () => {
    let redirect: unknown;
    behaviours = {
      claude: (_url, init) => {
        redirect = init.redirect;
        return Response.json({ data: [{ id: "claude-x" }], has_more: false });
      },
    };
    expect(await idsOf(listOf(route("claude", "anthropic")))).toEqual(["claude/claude-x"]);
    expect(headers.get("x-api-key")).toBe("key-of-claude");
    expect(headers.get("anthropic-version")).toBe("2023-06-01");
    expect(redirect).toBe("manual");
  });

  test("fetches all listings in parallel", async () => {
    const [first, second] = [slow(), slow()];
    behaviours = { one: first.behave, two: second.behave };
    const listing = idsOf(listOf(route("one"), route("two")));
    await turns();
    expect(fetched).toEqual(["https://one.example/models", "https://two.example/models"]);
    second.answer(Response.json({ data: [{ id: "b" }] }));
    first.answer(Response.json({ data: [{ id: "a" }] }));
    expect(await listing).toEqual(["one/a", "two/b"]);
  });
});

describe("pages", () => {
  test("are read to the end", async () => {
    behaviours = {
      google: (url) =>
        Response.json(
          url.includes("pageToken=next")
            ? { models: [{ name: "models/b" }] }
            : { models: [{ name: "models/a" }], nextPageToken: "next" },
        ),
    };
    expect(await idsOf(listOf(route("google", "google")))).toEqual(["google/a", "google/b"]);
    expect(fetched).toHaveLength(2);
  });

  test("that never end are read up to the bound", async () => {
    behaviours = {
      google: () => Response.json({ models: [{ name: `models/m${fetched.length}` }], nextPageToken: "again" }),
    };
    expect(await idsOf(listOf(route("google", "google")))).toHaveLength(20);
    expect(fetched).toHaveLength(20);
  });

  test("make the whole listing fail if one of them fails", async () => {
    behaviours = {
      one: lists("a"),
      google: (url) =>
        url.includes("pageToken")
          ? new Response("", { status: 500 })
          : Response.json({ models: [{ name: "models/a" }], nextPageToken: "next" }),
    };
    expect(await idsOf(listOf(route("one"), route("google", "google")))).toEqual(["one/a"]);
    expect(failures).toMatchObject([["google", { message: "the listing answered 500" }]]);
  });
});

const broken: [string, Behaviour][] = [
  ["can't be reached", () => Promise.reject(new TypeError("connection refused"))],
  ["answers 401", () => new Response("{}", { status: 401 })],
  ["redirects", () => new Response(null, { status: 302, headers: { location: "https://elsewhere.example/" } })],
  ["answers with HTML", () => new Response("<html></html>")],
];

describe("a listing that fails", () => {
  test.each(broken)("because it %s is omitted and reported", async (_title, behaviour) => {
    behaviours = { one: lists("a"), bad: behaviour, two: lists("b") };
    expect(await idsOf(listOf(route("one"), route("bad"), route("two")))).toEqual(["one/a", "two/b"]);
    expect(failures.map(([prefix]) => prefix)).toEqual(["bad"]);
  });

  test("is fetched again after half a minute, in the background", async () => {
    behaviours = { one: lists("a"), bad: () => new Response("", { status: 500 }) };
    const list = listOf(route("one"), route("bad"));
    await idsOf(list);
    await advance(29_999);
    await idsOf(list);
    expect(fetched.filter((url) => url.includes("bad"))).toHaveLength(1);

    const late = slow();
    behaviours["bad"] = late.behave;
    await advance(1);
    // The answer doesn't wait for the listing: it sets no timer.
    expect(await idsOf(list)).toEqual(["one/a"]);
    expect(fetched.filter((url) => url.includes("bad"))).toHaveLength(2);
    late.answer(Response.json({ data: [{ id: "b" }] }));
    await turns();
    expect(await idsOf(list)).toEqual(["one/a", "bad/b"]);
  });

  test("leaves the provider's previous models in the list", async () => {
    behaviours = { one: lists("a") };
    const list = listOf(route("one"));
    await idsOf(list);
    behaviours["one"] = () => new Response("", { status: 500 });
    await advance(300_000);
    await idsOf(list);
    await turns();
    expect(failures).toHaveLength(1);
    expect(await idsOf(list)).toEqual(["one/a"]);
  });

  test("is aborted after ten seconds", async () => {
    behaviours = {
      stuck: (_url, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("timed out")))),
    };
    const listing = idsOf(listOf(route("stuck")));
    await turns();
    await advance(3_000);
    expect(await listing).toEqual([]);
    expect(failures).toEqual([]);
    await advance(7_000);
    expect(failures).toMatchObject([["stuck", { message: "timed out" }]]);
  });
});

describe("a listing that is slow", () => {
  test("delays the first answer, with all other models, by three seconds at most", async () => {
    const late = slow();
    behaviours = { one: lists("a"), late: late.behave };
    const list = listOf(route("one"), route("late"));
    let answered: string[] | undefined;
    const answer = async (): Promise<void> => {
      answered = await idsOf(list);
    };
    const first = answer();
    await turns();
    await advance(2_999);
    expect(answered).toBeUndefined();
    await advance(1);
    await first;
    expect(answered).toEqual(["one/a"]);
    late.answer(Response.json({ data: [{ id: "b" }] }));
    await turns();
    expect(await idsOf(list)).toEqual(["one/a", "late/b"]);
  });
});

describe("listings are cached", () => {
  test("for five minutes, without another request", async () => {
    behaviours = { one: lists("a") };
    const list = listOf(route("one"));
    await idsOf(list);
    await advance(299_999);
    await idsOf(list);
    expect(fetched).toHaveLength(1);
  });

  test("and refreshed in the background: the old one is used meanwhile", async () => {
    behaviours = { one: lists("old") };
    const list = listOf(route("one"));
    await idsOf(list);
    const late = slow();
    behaviours["one"] = late.behave;
    await advance(300_000);
    expect(await idsOf(list)).toEqual(["one/old"]);
    expect(await idsOf(list)).toEqual(["one/old"]);
    expect(fetched).toHaveLength(2);
    late.answer(Response.json({ data: [{ id: "new" }] }));
    await turns();
    expect(await idsOf(list)).toEqual(["one/new"]);
    expect(fetched).toHaveLength(2);
  });

  test("even if they are empty", async () => {
    behaviours = { one: lists() };
    const list = listOf(route("one"));
    expect(await idsOf(list)).toEqual([]);
    expect(await idsOf(list)).toEqual([]);
    expect(fetched).toHaveLength(1);
  });

  test("and fetched once for simultaneous callers", async () => {
    const late = slow();
    behaviours = { one: late.behave };
    const list = listOf(route("one"));
    const callers = Promise.all([idsOf(list), idsOf(list), idsOf(list)]);
    await turns();
    late.answer(Response.json({ data: [{ id: "a" }] }));
    expect(await callers).toEqual([["one/a"], ["one/a"], ["one/a"]]);
    expect(fetched).toHaveLength(1);
  });
});
