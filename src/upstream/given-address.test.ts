/** Requests that name the address to connect to: the name in the URL is never resolved, but still checked. */
import { describe, expect, test } from "bun:test";
import { askByFetch } from "./by-fetch.ts";
import { Authority } from "./__fixtures__/certificates.ts";
import { failureOf } from "../../test/kit/failure-of.ts";
import { clientOf, RawUpstream, replyOf, requestTo, textOf } from "./__fixtures__/raw-upstream.ts";

const authority = new Authority("the test's authority");
const named = authority.issue({ name: "named", hosts: ["DNS:named.invalid"] });
const address = "127.0.0.1";
/** No resolver answers for this name (RFC 2606). */
const name = "named.invalid";

const start = (): RawUpstream => new RawUpstream(({ send }) => send(replyOf("ok")));

describe("a request with an address", () => {
  test("goes there, and names the host", async () => {
    using upstream = start();
    using client = clientOf();
    expect(await textOf(await client.ask(requestTo(upstream.url(name), { address })))).toBe("ok");
    expect(upstream.requests[0]).toContain(`\r\nhost: ${new URL(upstream.url(name)).host}\r\n`);
    expect(await failureOf(client.ask(requestTo(upstream.url(name))))).toBeInstanceOf(Error);
  });

  test("never uses another address of the host", async () => {
    using upstream = start();
    using client = clientOf();
    // Nothing listens there, while the name in the URL would lead to the upstream.
    const asked = client.ask(requestTo(upstream.url(), { address: "::1" }));
    expect(await failureOf(asked)).toBeInstanceOf(Error);
    expect(upstream.connections).toBe(0);
  });

  test("is sent only if the certificate is the host's", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")), address, named);
    using client = clientOf({ trusted: authority.cert });
    expect(await textOf(await client.ask(requestTo(upstream.url(name), { address })))).toBe("ok");
    for (const other of ["other.invalid", address]) {
      const received = upstream.receivedBytes;
      const asked = client.ask(requestTo(upstream.url(other), { address, body: "private" }));
      expect(await failureOf(asked)).toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
      expect(upstream.receivedBytes).toBe(received);
    }
  });

  test("shares no connection with others", async () => {
    using upstream = start();
    using client = clientOf();
    const url = upstream.url();
    await textOf(await client.ask(requestTo(url)));
    await textOf(await client.ask(requestTo(url, { address })));
    await textOf(await client.ask(requestTo(url, { address })));
    expect(upstream.connections).toBe(3);
    await textOf(await client.ask(requestTo(url)));
    expect(upstream.connections).toBe(3);
    await upstream.until(() => upstream.closed === 2);
  });

  test("goes through no proxy", async () => {
    using upstream = start();
    using client = clientOf({ variables: { http_proxy: "http://127.0.0.1:9" } });
    expect(await textOf(await client.ask(requestTo(upstream.url(name), { address })))).toBe("ok");
  });

  test("is refused by fetch, which would look the host up itself", async () => {
    const ask = askByFetch(() => Promise.reject(new Error("fetch was called")));
    expect(await failureOf(ask(requestTo("http://named.invalid/", { address })))).toBeInstanceOf(TypeError);
  });
});
