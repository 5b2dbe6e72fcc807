import { describe, expect, test } from "bun:test";
import type { OpenAnswer } from "../auth/index.ts";
import { type AcceptedSocket, GatewayError } from "../core/index.ts";
import { MemoryBudget } from "../streaming/index.ts";
import { type SocketEvents, Sockets, type SocketsOptions } from "./sockets.ts";

test("a handshake that was running when the server began to stop is refused, and its handler ended", async () => {
  const closed: number[] = [];
  let upgrades = 0;
  const note = (): void => undefined;
  const sockets = new Sockets({
    upgrade: () => {
      upgrades += 1;
      return true;
    },
    logger: { info: note, warn: note, error: note, flush: note },
    memory: new MemoryBudget(1e9),
    openAnswers: { add: note, remove: note },
  });
  const accepted: AcceptedSocket = {
    socket: { open: note, message: note, close: (code) => void closed.push(code) },
  };
  const request = new Request("http://gateway.test/v1/things", { headers: { upgrade: "websocket" } });
  sockets.abortAll();
  expect(() =>
    sockets.accept(
      { request, requestId: "req_1", principal: { tokenId: "t" }, headers: {}, memory: sockets.reserve("alice") },
      accepted,
    ),
  ).toThrow("going down");
  expect({ upgrades, closed }).toEqual({ upgrades: 0, closed: [1006] });
  while (sockets.active > 0) await Promise.resolve();
});

const note = (): void => undefined;
const MEBIBYTE = 1024 * 1024;

interface Opened {
  sockets: Sockets;
  events: SocketEvents;
  memory: MemoryBudget;
  /** What the gateway has done to the socket. */
  done: unknown[];
  /** What its handler got. */
  received: unknown[];
}

/** A socket of this route on a stage of its own. */
function open(accepted: Partial<AcceptedSocket> = {}, options: Partial<SocketsOptions> = {}): Opened {
  const memory = new MemoryBudget(100 * MEBIBYTE);
  let events: SocketEvents | undefined;
  const sockets = new Sockets({
    upgrade(_request, upgraded) {
      events = upgraded;
      return true;
    },
    logger: { info: note, warn: note, error: note, flush: note },
    memory,
    openAnswers: { add: note, remove: note },
    ...options,
  });
  const received: unknown[] = [];
  const done: unknown[] = [];
  const socket = { open: note, message: (message: unknown) => void received.push(message), close: note };
  const handshake = {
    request: new Request("http://gateway.test/"),
    requestId: "req_1",
    principal: { tokenId: "t" },
    headers: {},
  };
  sockets.accept({ ...handshake, memory: sockets.reserve("alice") }, { socket, ...accepted });
  if (events === undefined) throw new Error("it was not upgraded");
  events.open({
    send: () => "sent",
    cork: (run) => run(),
    ping: () => void done.push("ping"),
    pause: note,
    resume: note,
    close: (code, reason) => void done.push([code, reason]),
    terminate: () => void done.push("terminate"),
  });
  return { sockets, events, memory, done, received };
}

describe("an open socket", () => {
  test("is closed with 1008 once its token is revoked, unless its handler does that itself", () => {
    const added = new Map<OpenAnswer, string>();
    const openAnswers = {
      add: (answer: OpenAnswer, { tokenId }: { tokenId: string }) => void added.set(answer, tokenId),
      remove: (answer: OpenAnswer) => void added.delete(answer),
    };
    const revoked = new GatewayError("token_revoked", "The token has been revoked.");
    const plain = open({}, { openAnswers });
    expect([...added.values()]).toEqual(["t"]);
    for (const answer of added.keys()) answer.abort(revoked);
    expect(plain.done).toEqual([[1008, "token_revoked"]]);
    plain.events.close(1008, "");
    added.clear();
    const told: unknown[] = [];
    const socket = { open: note, message: note, close: note, revoke: (error: GatewayError) => void told.push(error) };
    const own = open({ socket }, { openAnswers });
    for (const answer of added.keys()) answer.abort(revoked);
    expect([told, own.done]).toEqual([[revoked], []]);
  });

  test("reserves the bound of a message until it has ended", async () => {
    let ended = 0;
    const { sockets, events, memory } = open({ onEnd: () => void (ended += 1) });
    expect(memory.used).toBe(16 * MEBIBYTE);
    events.close(1000, "");
    while (sockets.active > 0) await Promise.resolve();
    expect([memory.used, ended]).toEqual([0, 1]);
  });

  test("is refused with 503 if too little is left, and its user has half of it at most", () => {
    const { sockets, memory } = open();
    sockets.reserve("alice");
    const last = sockets.reserve("alice");
    expect(() => sockets.reserve("alice")).toThrow("under way");
    last.free();
    last.free();
    expect(memory.used).toBe(32 * MEBIBYTE);
    for (let user = 0; user < 4; user += 1) sockets.reserve(`user-${user}`);
    expect(() => sockets.reserve("bob")).toThrow("under way");
  });

  test("takes a bounded number of messages a second, and no more after that", () => {
    const { events, done, received } = open({ bounds: { messagesPerSecondMax: 500 } });
    for (let message = 0; message < 2_000; message += 1) events.message("");
    expect(received.length).toBeLessThanOrEqual(1_000);
    expect(done).toEqual([[1008, "rate_limit_exceeded"]]);
  });

  test("counts pings and pongs among them", () => {
    const { events, done } = open({ bounds: { messagesPerSecondMax: 500 } });
    for (let ping = 0; ping < 2_000; ping += 1) events.control();
    expect(done).toEqual([[1008, "rate_limit_exceeded"]]);
  });

  test("of a route with a smaller bound is closed with 1009", () => {
    const { events, done, received } = open({ bounds: { messagesPerSecondMax: 500, messageBytesMax: 8 } });
    events.message("x".repeat(8));
    events.message("é".repeat(5));
    events.message("x");
    expect(received).toEqual(["xxxxxxxx"]);
    expect(done).toEqual([[1009, "message_too_large"]]);
  });

  test("whose client does not answer a ping is ended; one that answers, or sends, is not", async () => {
    const bounds = { pingAfterMs: 30, pongMsMax: 60 };
    const [silent, answering, sending] = [open({}, bounds), open({}, bounds), open({}, bounds)];
    const sends = setInterval(() => {
      answering.events.control();
      sending.events.message("x");
    }, 10);
    while (!silent.done.includes("terminate")) await Bun.sleep(5);
    clearInterval(sends);
    expect(silent.done.slice(0, 2)).toEqual(["ping", "terminate"]);
    expect([answering.done, sending.done].flat()).not.toContain("terminate");
  });
});
