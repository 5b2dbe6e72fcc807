import { expect, test } from "bun:test";
import type { AcceptedSocket } from "../core/index.ts";
import { Sockets } from "./sockets.ts";

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
  });
  const accepted: AcceptedSocket = {
    socket: { open: note, message: note, close: (code) => void closed.push(code) },
  };
  const request = new Request("http://gateway.test/v1/things", { headers: { upgrade: "websocket" } });
  sockets.abortAll();
  expect(() => sockets.accept({ request, requestId: "req_1", headers: {} }, accepted)).toThrow("going down");
  expect({ upgrades, closed }).toEqual({ upgrades: 0, closed: [1006] });
  while (sockets.active > 0) await Promise.resolve();
});
