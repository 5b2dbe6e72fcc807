import { describe, expect, test } from "bun:test";
import { failureOf } from "../../test/kit/failure-of.ts";
import { clientOf, RawUpstream, replyOf, requestTo, textOf } from "./__fixtures__/raw-upstream.ts";

const late = /could not be opened in time/;

describe("the time-out for connecting", () => {
  test("ends a TLS handshake that the upstream never answers, with nothing sent", async () => {
    // Accepts the TCP connection, and never speaks TLS.
    using upstream = new RawUpstream(() => undefined);
    using client = clientOf();
    let sent = 0;
    const url = upstream.url().replace("http:", "https:");
    const asked = client.ask(requestTo(url, { connectMsMax: 100, onSent: () => (sent += 1) }));
    expect(String(await failureOf(asked))).toMatch(late);
    await upstream.until(() => upstream.closed === 1);
    expect(sent).toBe(0);
  });

  test("does not limit the wait for a reply on an open connection", async () => {
    const answer = Promise.withResolvers<void>();
    using upstream = new RawUpstream(({ send }) => void answer.promise.then(() => send(replyOf("slow"))));
    using client = clientOf();
    const asked = client.ask(
      requestTo(upstream.url(), { connectMsMax: 50, onSent: () => setTimeout(answer.resolve, 200) }),
    );
    expect(await textOf(await asked)).toBe("slow");
  });
});

describe("a request", () => {
  test("is reported as sent once it is written, on a new connection and on a reused one", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")));
    using client = clientOf();
    for (const times of [1, 2]) {
      let sent = 0;
      await textOf(await client.ask(requestTo(upstream.url(), { onSent: () => (sent += 1) })));
      expect([times, sent]).toEqual([times, 1]);
    }
    expect(upstream.connections).toBe(1);
  });

  test("is not reported as sent if nothing listens", async () => {
    const upstream = new RawUpstream(() => undefined);
    const url = upstream.url();
    upstream[Symbol.dispose]();
    using client = clientOf();
    let sent = 0;
    await failureOf(client.ask(requestTo(url, { onSent: () => (sent += 1) })));
    expect(sent).toBe(0);
  });
});
