/** The opening and refusal of WebSockets on a real server. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { GatewayError } from "../../core/index.ts";
import type { RouteCall } from "../../http/index.ts";
import { type Client, Recorder, shakeHands, SocketServer } from "./__fixtures__/socket-server.ts";

let server: SocketServer;
beforeEach(async () => {
  server = await SocketServer.start();
});
afterEach(() => server.stop());

const idShape = /^req_[0-9a-z]{25}$/;
const upgrade = { upgrade: "websocket" };

/** The head of the answer to a handshake. */
async function headOf(headers: Record<string, string> = {}): Promise<string> {
  const { head, leave } = shakeHands(server, headers);
  try {
    return await head;
  } finally {
    leave();
  }
}

const opens = ({ opened }: Client): Promise<boolean> =>
  opened.then(
    () => true,
    () => false,
  );

describe("a handshake", () => {
  test("is answered with the request's id and the headers of the route", async () => {
    let id = "";
    server.answerWith(({ requestId }) => {
      id = requestId;
      return { socket: new Recorder(), headers: { "x-session": "s1", "x-request-id": "the route's own" } };
    });
    const head = await headOf();
    expect(head).toStartWith("http/1.1 101 ");
    expect(head).toContain("\r\nsec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=");
    expect(head).toContain("\r\nx-session: s1");
    expect(head.match(/x-request-id: .*/g)).toEqual([`x-request-id: ${id}`]);
    expect(id).toMatch(idShape);
  });

  test("is answered with the subprotocol of the route, or with none", async () => {
    const offered = { "sec-websocket-protocol": "secret-token, realtime" };
    server.answerWith(() => ({ socket: new Recorder(), protocol: "realtime" }));
    expect(await headOf(offered)).toContain("\r\nsec-websocket-protocol: realtime");
    server.answerWith(() => ({ socket: new Recorder() }));
    expect(await headOf(offered)).not.toContain("sec-websocket-protocol");
  });

  test("may also request other protocols", async () => {
    expect(await headOf({ upgrade: "h2c, WebSocket" })).toStartWith("http/1.1 101 ");
  });

  test.each<[string, () => Response, number, unknown]>([
    ["by an answer of its own", () => Response.json("not today", { status: 429 }), 429, "not today"],
    [
      "by an error",
      () => {
        throw new GatewayError("insufficient_credits", "no money");
      },
      402,
      { error: { message: "no money", type: "insufficient_credits", code: "insufficient_credits", param: null } },
    ],
  ])("is refused by its route %s", async (_, refuse, status, body) => {
    server.answerWith(refuse);
    const refused = await server.get("/v1/sockets/one", upgrade);
    expect([refused.status, await refused.json()]).toEqual([status, body]);
    expect(refused.headers.get("x-request-id")).toMatch(idShape);
    expect(await opens(server.connect())).toBe(false);
  });

  test.each<[string, string, (server: SocketServer) => string, number]>([
    ["without a token", "/v1/sockets/one", () => "", 401],
    ["with a wrong one", "/v1/sockets/one", () => "tg_x", 401],
    ["with one that doesn't administrate, where that is needed", "/v1/admin/socket", ({ token }) => token, 403],
  ])("does not reach its route %s", async (_, path, tokenOf, status) => {
    const reached: string[] = [];
    server.answerWith(({ principal }: RouteCall) => {
      reached.push(principal.user);
      return { socket: new Recorder() };
    });
    const refused = await server.get(path, { ...upgrade, authorization: `Bearer ${tokenOf(server)}` });
    expect([refused.status, reached]).toEqual([status, []]);
    await server.connect({ path: "/v1/admin/socket", token: server.adminToken }).opened;
    expect(reached).toEqual(["root"]);
  });

  test("that its client aborted ends the work started for it", async () => {
    const recorder = new Recorder();
    const begun = Promise.withResolvers<void>();
    server.answerWith(async ({ request }) => {
      begun.resolve();
      await new Promise((resolve) => {
        request.signal.addEventListener("abort", resolve);
      });
      return { socket: recorder };
    });
    const { leave } = shakeHands(server);
    await begun.promise;
    leave();
    expect(await recorder.closed.promise).toEqual([1006, ""]);
    expect(recorder.closings).toBe(1);
  });

  test("whose answer cannot be written ends the work started for it", async () => {
    const recorder = new Recorder();
    server.answerWith(() => ({ socket: recorder, headers: { "no header": "x" } }));
    expect(await opens(server.connect())).toBe(false);
    expect(await recorder.closed.promise).toEqual([1006, ""]);
    expect(recorder.closings).toBe(1);
  });
});

describe("a request that is not a handshake", () => {
  test.each<[string, Record<string, string>, number]>([
    ["wants nothing", {}, 0],
    ["wants something else", { upgrade: "h2c" }, 0],
    // Work started for it has been ended.
    ["lacks the rest of one", upgrade, 1],
  ])("gets 426 if it %s", async (_, headers, closings) => {
    const recorder = new Recorder();
    let takings = 0;
    server.answerWith(() => {
      takings += 1;
      return { socket: recorder };
    });
    const refused = await server.get("/v1/sockets/one", headers);
    expect([refused.status, refused.headers.get("upgrade")]).toEqual([426, "websocket"]);
    expect(refused.headers.get("x-request-id")).toMatch(idShape);
    expect(await refused.json()).toEqual({
      error: {
        message: "This is for WebSockets alone: it takes a handshake of version 13.",
        type: "invalid_request_error",
        code: "upgrade_required",
        param: null,
      },
    });
    expect([takings, recorder.closings]).toEqual([closings, closings]);
  });

  test("gets 426 without a body for a HEAD, and 404 for any other method", async () => {
    const headers = { authorization: `Bearer ${server.token}`, ...upgrade };
    const url = `${server.url}/v1/sockets/one`;
    const head = await fetch(url, { headers, method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([426, ""]);
    expect((await fetch(url, { headers, method: "POST" })).status).toBe(404);
  });

  test("is a plain GET on a plain route, whatever upgrade it requests", async () => {
    const plain = await server.get("/v1/plain", upgrade);
    expect([plain.status, await plain.json()]).toEqual([200, "plain"]);
  });
});
