import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, expectNoInside, expectRefusal, openRaw, type RawAnswer, sendRaw, until } from "../kit/index.ts";
import { goodMessages, goodModel, type Hardened, startHardened } from "./hardened.ts";

let gateway: Hardened;
beforeAll(async () => {
  gateway = await startHardened({ body_timeout: "300ms" });
});
afterEach(() => gateway.expectUnharmed());
afterAll(() => gateway.rig.stop());

describe("bytes that are no proper HTTP", () => {
  const body = `{${goodModel},${goodMessages}}`;
  const head = (fields: string): string =>
    `POST ${chatPath} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${gateway.caller.token}\r\n${fields}\r\n`;
  const sized = `content-length: ${body.length}\r\n`;
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  async function expectRefusedRaw(bytes: string, statuses: readonly number[]): Promise<RawAnswer> {
    const before = gateway.rig.simulators.total();
    const answer = await sendRaw(gateway.rig.gateway.url, bytes);
    if (answer === undefined) throw new Error("the connection ended without an answer");
    expect(statuses).toContain(answer.status);
    expectNoInside(answer.body);
    expect(gateway.rig.simulators.total()).toBe(before);
    return answer;
  }

  test("the same request without a fault is answered", async () => {
    expect((await sendRaw(gateway.rig.gateway.url, head(sized) + body))?.status).toBe(200);
    expect((await sendRaw(gateway.rig.gateway.url, `${head("transfer-encoding: chunked\r\n")}${chunk}`))?.status).toBe(
      200,
    );
  });

  test.each<[string, string, string]>([
    ["two lengths that differ", `content-length: ${body.length}\r\ncontent-length: ${body.length + 1}\r\n`, body],
    ["two lengths, the first zero", `content-length: 0\r\n${sized}`, body],
    ["a list of lengths", `content-length: ${body.length}, ${body.length}\r\n`, body],
    ["a length and a transfer coding", `${sized}transfer-encoding: chunked\r\n`, chunk],
    ["a transfer coding and a length", `transfer-encoding: chunked\r\ncontent-length: 4\r\n`, chunk],
    ["a negative length", "content-length: -1\r\n", body],
    ["a signed length", `content-length: +${body.length}\r\n`, body],
    ["a hexadecimal length", `content-length: 0x${body.length.toString(16)}\r\n`, body],
    ["an empty length", "content-length: \r\n", body],
    ["a length beyond 64 bits", "content-length: 18446744073709551616\r\n", body],
    ["the largest 64-bit length", "content-length: 9223372036854775807\r\n", body],
    ["a length of 30 digits", `content-length: ${"9".repeat(30)}\r\n`, body],
    ["a space before the colon", `content-length : ${body.length}\r\n`, body],
    ["an unknown transfer coding", "transfer-encoding: xchunked\r\n", chunk],
    ["two transfer codings", "transfer-encoding: gzip, chunked\r\n", chunk],
    ["a chunk size that is no number", "transfer-encoding: chunked\r\n", `zz\r\n${body}\r\n0\r\n\r\n`],
    ["a negative chunk size", "transfer-encoding: chunked\r\n", `-5\r\n${body}\r\n0\r\n\r\n`],
    ["a chunk size beyond 64 bits", "transfer-encoding: chunked\r\n", `${"f".repeat(17)}\r\n${body}\r\n0\r\n\r\n`],
    ["a NUL in a header", `${sized}x-client-request-id: a\u0000b\r\n`, body],
    ["a bare line feed in a header", `${sized}x-client-request-id: a\nx-evil: b\r\n`, body],
    ["a bare carriage return in a header", `${sized}x-client-request-id: a\rx-evil: b\r\n`, body],
    ["a folded header", `${sized}x-client-request-id: a\r\n b\r\n`, body],
    ["a header without a colon", `${sized}nonsense\r\n`, body],
    ["a header without a name", `${sized}: nonsense\r\n`, body],
  ])("%s", async (_, fields, rest) => {
    await expectRefusedRaw(head(fields) + rest, [400]);
  });

  test("two lengths that agree are one", async () => {
    const before = gateway.rig.simulators.total();
    expect((await sendRaw(gateway.rig.gateway.url, head(sized + sized) + body))?.status).toBe(200);
    expect(gateway.rig.simulators.total()).toBe(before + 1);
  });

  test.each<[string, string, number[]]>([
    ["a header of 100 KB", `x-big: ${"a".repeat(100_000)}\r\n`, [431]],
    ["20,000 headers", Array.from({ length: 20_000 }, (_, index) => `x-${index}: 1\r\n`).join(""), [431]],
    ["a token of 100 KB", `x-api-key: tg_${"a".repeat(100_000)}\r\n`, [431]],
  ])("%s", async (_, fields, statuses) => {
    await expectRefusedRaw(head(fields + sized) + body, statuses);
  });

  test.each<[string, string, number[]]>([
    ["a TLS hello", "\u0016\u0003\u0001\u0002\u0000\u0001\r\n\r\n", [400]],
    ["no host", `POST ${chatPath} HTTP/1.1\r\n${sized}\r\n${body}`, [400]],
    ["HTTP/0.9", "GET /health\r\n\r\n", [400, 505]],
    ["HTTP/3.0", "GET /health HTTP/3.0\r\nhost: x\r\n\r\n", [400, 505]],
    ["a path of 100 KB", `GET /${"a".repeat(100_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, [414, 431]],
    ["a path that does not decode", "GET /v1/%zz%00%ff HTTP/1.1\r\nhost: x\r\n\r\n", [404]],
    ["a proxy's CONNECT", "CONNECT upstream:443 HTTP/1.1\r\nhost: x\r\n\r\n", [400, 404, 405]],
    ["TRACE", "TRACE /health HTTP/1.1\r\nhost: x\r\ncookie: secret\r\n\r\n", [404, 405]],
  ])("%s", async (_, bytes, statuses) => {
    const answer = await expectRefusedRaw(bytes, statuses);
    expect(answer.body).not.toContain("secret");
  });

  test("a second request smuggled behind a length is a separate request, or none", async () => {
    const smuggled = `POST ${chatPath} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`;
    const before = gateway.rig.simulators.total();
    const connection = await openRaw(gateway.rig.gateway.url);
    connection.socket.write(head(sized) + body + smuggled);
    // Bun's server closes a connection with pipelined requests; a server that answers them must answer 401 here,
    // because the second request has no token of its own and must not inherit the first one's.
    let ended = false;
    void connection.closed.then(() => (ended = true));
    await until("both are answered or none", () => ended || connection.received().split("HTTP/1.1 ").length === 3);
    connection.socket.destroy();
    expect(connection.received()).toMatch(/^($|HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 401 )/);
    // The first one is executed without its client. It must be over before the next test counts requests.
    await until("the first one reaches its upstream", () => gateway.rig.simulators.total() === before + 1);
    await gateway.caller.closed();
  });

  describe("a request cut half way", () => {
    const halves: [string, () => string][] = [
      ["within its head", () => head(sized).slice(0, 60)],
      ["before its body", () => head(sized)],
      ["within its body", () => head(sized) + body.slice(0, 20)],
      [
        "within a chunk",
        () => `${head("transfer-encoding: chunked\r\n")}${body.length.toString(16)}\r\n${body.slice(0, 20)}`,
      ],
      ["between two chunks", () => `${head("transfer-encoding: chunked\r\n")}14\r\n${body.slice(0, 20)}\r\n`],
    ];

    test.each(halves)("%s, by a closed connection", async (_, bytes) => {
      const before = gateway.rig.simulators.total();
      const connection = await openRaw(gateway.rig.gateway.url);
      await new Promise<void>((resolve) => connection.socket.write(bytes(), () => resolve()));
      connection.socket.destroy();
      await connection.closed;
      expect(gateway.rig.simulators.total()).toBe(before);
    });

    test.each(halves)("%s, by a half-closed connection", async (_, bytes) => {
      const before = gateway.rig.simulators.total();
      const connection = await openRaw(gateway.rig.gateway.url);
      connection.socket.write(bytes());
      connection.socket.end();
      // The HTTP parser closes the connection; its answer, if any, is that the request was bad.
      await connection.closed;
      expect(connection.received()).toMatch(/^($|HTTP\/1\.1 4\d\d )/);
      expect(gateway.rig.simulators.total()).toBe(before);
    });

    test.each(halves.slice(1))("%s, by silence: the gateway gives up after server.body_timeout", async (_, bytes) => {
      const before = gateway.rig.simulators.total();
      const connection = await openRaw(gateway.rig.gateway.url);
      connection.socket.write(bytes());
      const answer = await connection.answer();
      if (answer === undefined) throw new Error("no answer");
      expectRefusal(answer, answer.body, { status: 408, code: "request_timeout" });
      await connection.closed;
      expect(gateway.rig.simulators.total()).toBe(before);
    });

    test("by a body that drips in too slowly", async () => {
      const connection = await openRaw(gateway.rig.gateway.url);
      connection.socket.write(head("transfer-encoding: chunked\r\n"));
      const drip = setInterval(() => connection.socket.writable && connection.socket.write("1\r\n \r\n"), 20);
      const answer = await connection.answer();
      clearInterval(drip);
      connection.socket.destroy();
      expect(answer?.status).toBe(408);
    });
  });
});
test("after all of it the books balance and nothing failed within", () => gateway.expectNoFailure());
