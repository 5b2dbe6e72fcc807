import { expect, test } from "bun:test";
import type { UpstreamReply } from "../core/index.ts";
import { clientOf, RawUpstream, requestTo } from "./__fixtures__/raw-upstream.ts";

test("the body of a request is freed when the reply has begun, however long that lasts", async () => {
  using upstream = new RawUpstream(({ send }) => send("HTTP/1.1 200 OK\r\n\r\nbeginning"));
  using client = clientOf();
  const bodies: WeakRef<Uint8Array>[] = [];
  const replies: UpstreamReply[] = [];
  for (let call = 0; call < 30; call += 1) {
    const body = new Uint8Array(100_000);
    bodies.push(new WeakRef(body));
    replies.push(await client.ask(requestTo(upstream.url(), { body })));
  }
  // Objects used in this turn of the event loop are not collected in it.
  await new Promise<void>((resolve) => setImmediate(resolve));
  Bun.gc(true);
  // The collector may mistake stack contents for a reference to one or the other.
  expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThan(10);
  for (const { body } of replies) body.cancel();
});
