import { describe, expect, test } from "bun:test";
import { Authority, type Issued, selfSigned } from "./__fixtures__/certificates.ts";
import { failureOf } from "../../test/kit/failure-of.ts";
import { clientOf, RawUpstream, replyOf, requestTo, textOf } from "./__fixtures__/raw-upstream.ts";

const DAY_MS = 86_400_000;
const authority = new Authority("the test's authority");
const stranger = new Authority("another authority");
const local = { name: "localhost", hosts: ["DNS:localhost", "127.0.0.1"] };
const good = authority.issue(local);
const secret = new Headers({ authorization: "Bearer very-secret" });

const upstreamWith = (certificate: Issued): RawUpstream =>
  new RawUpstream(({ send }) => send(replyOf("ok")), "127.0.0.1", certificate);

/** Reasons to refuse a certificate; by default it is for the requested host. */
const refused: Record<string, { certificate: Issued; code: string }> = {
  "is self-signed": { certificate: selfSigned(local), code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
  "is of an authority that nobody knows": {
    certificate: stranger.issue(local),
    code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  },
  "has expired": {
    certificate: authority.issue({ ...local, until: new Date(Date.now() - DAY_MS / 2) }),
    code: "CERT_HAS_EXPIRED",
  },
  "is not valid yet": {
    certificate: authority.issue({ ...local, from: new Date(Date.now() + DAY_MS / 2) }),
    code: "CERT_NOT_YET_VALID",
  },
  "is another host's": {
    certificate: authority.issue({ name: "localhost", hosts: ["DNS:elsewhere.test", "127.0.0.2"] }),
    code: "ERR_TLS_CERT_ALTNAME_INVALID",
  },
  "is for hosts below the one that is asked": {
    certificate: authority.issue({ name: "x", hosts: ["DNS:*.localhost"] }),
    code: "ERR_TLS_CERT_ALTNAME_INVALID",
  },
};

describe("an upstream's certificate", () => {
  for (const host of ["localhost", "127.0.0.1"]) {
    test(`that is valid for ${host} is accepted, and the connection reused`, async () => {
      using upstream = upstreamWith(good);
      using client = clientOf({ trusted: authority.cert });
      for (const _ of [1, 2]) {
        expect(await textOf(await client.ask(requestTo(upstream.url(host), { headers: secret })))).toBe("ok");
      }
      expect(upstream.connections).toBe(1);
    });

    for (const [why, { certificate, code }] of Object.entries(refused)) {
      test(`that ${why} is refused for ${host} before a byte is sent`, async () => {
        using upstream = upstreamWith(certificate);
        using client = clientOf({ trusted: authority.cert });
        const asked = client.ask(requestTo(upstream.url(host), { headers: secret, body: "private" }));
        expect(await failureOf(asked)).toMatchObject({ code });
        await upstream.until(() => upstream.closed === 1);
        expect(upstream.receivedBytes).toBe(0);
      });
    }
  }

  test("is verified by well-known authorities, unless others are given", async () => {
    using upstream = upstreamWith(good);
    using client = clientOf();
    expect(await failureOf(client.ask(requestTo(upstream.url())))).toMatchObject({
      code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    });
    await upstream.until(() => upstream.closed === 1);
    expect(upstream.receivedBytes).toBe(0);
  });

  const asked = { "NODE_EXTRA_CA_CERTS names its authority": "ok", "NODE_TLS_REJECT_UNAUTHORIZED is 0": "refused" };
  for (const [when, outcome] of Object.entries(asked)) {
    test(`is ${outcome} if ${when}`, async () => {
      using upstream = upstreamWith(good);
      const file = `${process.env["TMPDIR"] ?? "/tmp"}/tollgate-authority-${crypto.randomUUID()}.pem`;
      await Bun.write(file, authority.cert);
      const script = `
        import { UpstreamClient } from "${import.meta.dir}/index.ts";
        const client = new UpstreamClient({ fallback: () => Promise.reject(), clock: Date.now, variables: {} });
        const signal = new AbortController().signal;
        client.ask({ method: "GET", url: "${upstream.url()}", headers: new Headers(), signal })
          .then(() => console.log("ok"), () => console.log("refused"))
          .finally(() => client.close());
      `;
      const own = outcome === "ok" ? { NODE_EXTRA_CA_CERTS: file } : { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
      const env = { ...process.env, ...own };
      const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore", env });
      expect(await new Response(child.stdout).text()).toContain(outcome);
      await child.exited;
      await Bun.file(file).delete();
      if (outcome === "refused") expect(upstream.receivedBytes).toBe(0);
    });
  }
});

describe("TLS", () => {
  test("carries megabytes in both directions", async () => {
    using upstream = new RawUpstream(
      ({ send, text }) => send(replyOf(text.slice(text.indexOf("\r\n\r\n") + 4))),
      "127.0.0.1",
      good,
    );
    using client = clientOf({ trusted: authority.cert });
    const body = "0123456789abcdef".repeat(300_000);
    for (const sent of [body, Buffer.from(body)]) {
      const reply = await client.ask(requestTo(upstream.url("localhost"), { body: sent }));
      expect((await textOf(reply)) === body).toBe(true);
    }
    expect(upstream.connections).toBe(1);
  });

  test("is not replaced by plain text if the upstream does not support it", async () => {
    using upstream = new RawUpstream(({ send }) => send(replyOf("ok")));
    using client = clientOf({ trusted: authority.cert });
    const url = upstream.url("localhost").replace("http:", "https:");
    const abort = new AbortController();
    const asked = client.ask(requestTo(url, { headers: secret, signal: abort.signal }));
    // It waits for the end of the bytes that it takes for a request.
    await upstream.until(() => upstream.receivedBytes > 0);
    const reason = new Error("enough");
    abort.abort(reason);
    expect(await failureOf(asked)).toBe(reason);
    await upstream.until(() => upstream.closed === 1);
    expect(upstream.requests).toEqual([]);
  });

  test("of an upstream that answers in plain text rejects", async () => {
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (socket) => {
          socket.write(replyOf("ok"));
        },
        data: () => undefined,
        error: () => undefined,
      },
    });
    using client = clientOf({ trusted: authority.cert });
    expect(await failureOf(client.ask(requestTo(`https://127.0.0.1:${listener.port}/`)))).toBeInstanceOf(Error);
    listener.stop(true);
  });

  test("that is ended within the handshake rejects", async () => {
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data: (socket) => {
          socket.end();
        },
        error: () => undefined,
      },
    });
    using client = clientOf({ trusted: authority.cert });
    expect(await failureOf(client.ask(requestTo(`https://127.0.0.1:${listener.port}/`)))).toBeInstanceOf(Error);
    listener.stop(true);
  });
});
