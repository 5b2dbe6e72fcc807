import { describe, expect, test } from "bun:test";
import { type BodySink, GatewayError, limits } from "../../core/index.ts";
import { fetchedTextBytes } from "../../dialects/index.ts";
import { type Outbound, OutboundError } from "../../outbound/index.ts";
import { MemoryBudget } from "../../streaming/index.ts";
import { ImageFetcher } from "./fetch-images.ts";

type Asked = Parameters<Outbound["fetch"]>[0];

test("an image has ten seconds; one that takes longer is image_unreachable, and ends the others", async () => {
  const asked: Asked[] = [];
  const outbound = {
    fetch: (request: Asked): Promise<never> => {
      asked.push(request);
      // The others would wait for ever.
      if (!request.url.endsWith("slow")) return new Promise(() => undefined);
      return Promise.reject(new OutboundError("timeout", "the host took too long"));
    },
  };
  const addresses = ["one", "slow", "two"].map((name, index) => ({
    url: `https://a.test/${name}`,
    at: `messages.${index}`,
    isDocument: false,
    uses: 1,
  }));
  const fetching = new ImageFetcher({ outbound }).fetch(addresses, new MemoryBudget(1e9).share());
  const thrown = await fetching.catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(GatewayError);
  expect(thrown).toMatchObject({ code: "image_unreachable", param: "messages.1" });
  expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 10_000, 10_000]);
  expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, true, true]);
  expect(limits.imageFetchMsMax).toBe(10_000);
});

describe("an address in several parts", () => {
  const bytesEach = 999_999;
  /** A text that many parts have; the image's limit and the memory are of all of them together. */
  const fetchFor = (uses: number, memory: MemoryBudget) => {
    const share = memory.share();
    const outbound = {
      fetch: ({ url }: Asked) => {
        let isOpen = true;
        const body = {
          flowTo(sink: BodySink) {
            sink.onBytes(Buffer.alloc(bytesEach, "a"));
            if (isOpen) sink.onEnd();
          },
          pause() {},
          resume() {},
          cancel: () => void (isOpen = false),
        };
        return Promise.resolve({ url, status: 200, headers: new Headers({ "content-type": "text/plain" }), body });
      },
    };
    const address = { url: "https://a.test/notes", at: "messages.0", isDocument: true, uses };
    return { share, fetching: new ImageFetcher({ outbound }).fetch([address], share) };
  };

  test("counts as often as it is there, and its memory until the body is freed", async () => {
    const memory = new MemoryBudget(1e9);
    const { share, fetching } = fetchFor(20, memory);
    expect(fetchedTextBytes(await fetching)).toBe(20 * bytesEach);
    expect(memory.used).toBe(20 * bytesEach);
    share.free();
    expect(memory.used).toBe(0);
  });

  test("is image_unreachable beyond 20 MiB together, and memory_exhausted beyond the process's memory", async () => {
    const failure = (uses: number, bytesMax: number): Promise<unknown> =>
      fetchFor(uses, new MemoryBudget(bytesMax)).fetching.catch((reason: unknown) => reason);
    expect(await failure(21, 1e9)).toMatchObject({ code: "image_unreachable" });
    expect(await failure(20, 19 * bytesEach)).toMatchObject({ code: "memory_exhausted" });
  });
});
