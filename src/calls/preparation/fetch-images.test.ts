import { expect, test } from "bun:test";
import { GatewayError, limits } from "../../core/index.ts";
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
  }));
  const fetching = new ImageFetcher({ outbound, memory: new MemoryBudget(1e9) }).fetch(addresses);
  const thrown = await fetching.catch((reason: unknown) => reason);
  expect(thrown).toBeInstanceOf(GatewayError);
  expect(thrown).toMatchObject({ code: "image_unreachable", param: "messages.1" });
  expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 10_000, 10_000]);
  expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, true, true]);
  expect(limits.imageFetchMsMax).toBe(10_000);
});
