/** SIGTERM: no new calls, open ones come to their end, everything is in the books, exit code 0. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { accountId, openLedgerStore } from "../../src/ledger/index.ts";
import { openStorage } from "../kit/storage.ts";
import { chatPath, EventReader, type Gateway, simulatedProviders, startGateway, until } from "../kit/index.ts";

let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const wordy = (fault: string, stream: boolean): string =>
  JSON.stringify({ model: `openai/gpt-4o-mini${fault}`, messages: [{ role: "user", content: "words:20" }], stream });

/** 5 tokens in and 20 out, under the test's flat price. */
const wordyCosts = 45_000n;

/** Starts a gateway, lets the test work on it, and afterwards looks into its books. */
async function withGateway(
  work: (gateway: Gateway, token: string) => Promise<void>,
  server: object = {},
): Promise<{ spent: bigint; openHolds: number }> {
  const gateway = await startGateway({ providers: simulatedProviders(simulators), config: { server } });
  try {
    await work(gateway, await gateway.token({ user: "tester" }));
    await gateway.stop({ keepFolder: true });
    const storage = await openStorage(gateway.storageUrl);
    const ledger = openLedgerStore(storage);
    const [account] = await ledger.chain(accountId("user", "tester"), Date.now());
    const { openHolds, drifts } = await ledger.audit();
    await storage.close();
    expect(drifts).toEqual([]);
    return { spent: account?.debitsPosted ?? 0n, openHolds };
  } finally {
    gateway.process.kill("SIGKILL");
    rmSync(gateway.folder, { recursive: true, force: true });
  }
}

function post(gateway: Gateway, token: string, body: string): Promise<Response> {
  return fetch(gateway.url + chatPath, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
}

/** A connection that is kept open, with everything that has come over it. */
async function openConnection(
  gateway: Gateway,
): Promise<{ socket: Socket; received: () => string; isClosed: () => boolean }> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  let closed = false;
  socket.on("data", (piece) => {
    text += piece.toString();
  });
  socket.on("close", () => {
    closed = true;
  });
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    socket.on("connect", () => resolve());
  });
  return { socket, received: () => text, isClosed: () => closed };
}

const rawPost = (token: string, body: string, length = Buffer.byteLength(body)): string =>
  `POST ${chatPath} HTTP/1.1\r\nhost: tollgate\r\nauthorization: Bearer ${token}\r\ncontent-length: ${length}\r\n\r\n${body}`;

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s: an open stream finishes, new calls are refused, exit 0, no open holds",
  async (signal) => {
    const { spent, openHolds } = await withGateway(async (gateway, token) => {
      // A connection from before, which the server must not answer on as if nothing were.
      const kept = await openConnection(gateway);
      kept.socket.write(`GET /health HTTP/1.1\r\nhost: tollgate\r\n\r\n`);
      await until("an answer on the kept connection", () => kept.received().includes('"status":"ok"'));

      const reader = new EventReader(await post(gateway, token, wordy("+pace-30", true)));
      await reader.next();
      gateway.process.kill(signal);
      await until("new connections are refused", () =>
        fetch(`${gateway.url}/v1/user/info`, {
          headers: { authorization: `Bearer ${token}`, connection: "close" },
        }).then(
          (answer) => answer.status === 503,
          () => true,
        ),
      );
      expect(
        await post(gateway, token, wordy("", false)).then(
          (answer) => answer.status,
          () => "no connection",
        ),
      ).toBeOneOf([503, "no connection"]);
      kept.socket.write(rawPost(token, wordy("", false)));
      await until("the kept connection is refused", () => kept.isClosed() || kept.received().includes("503"));
      expect(kept.received()).not.toContain("chat.completion");

      expect(gateway.process.exitCode).toBeNull();
      expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
      expect(await gateway.process.exited).toBe(0);
    });
    expect({ spent, openHolds }).toEqual({ spent: wordyCosts, openHolds: 0 });
  },
);

test("a whole answer under way arrives and is charged", async () => {
  simulators.clear();
  const { spent, openHolds } = await withGateway(async (gateway, token) => {
    const call = post(gateway, token, wordy("+slow-400", false));
    await until("the upstream has the call", () => simulators.total() === 1);
    gateway.process.kill("SIGTERM");
    const answer = await call;
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('"usage"');
    expect(await gateway.process.exited).toBe(0);
  });
  expect({ spent, openHolds }).toEqual({ spent: wordyCosts, openHolds: 0 });
});

test("what a client has caused that has disconnected is still charged", async () => {
  simulators.clear();
  const { spent, openHolds } = await withGateway(async (gateway, token) => {
    const { socket } = await openConnection(gateway);
    socket.write(rawPost(token, wordy("+slow-400", false)));
    await until("the upstream has the call", () => simulators.total() === 1);
    socket.destroy();
    gateway.process.kill("SIGTERM");
    expect(await gateway.process.exited).toBe(0);
  });
  // Its input, and the output of the moment until it left.
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBeLessThan(wordyCosts);
  expect(openHolds).toBe(0);
});

test("idle clients delay nothing", async () => {
  await withGateway(async (gateway, token) => {
    const silent = await openConnection(gateway);
    const answered = await openConnection(gateway);
    answered.socket.write(`GET /health HTTP/1.1\r\nhost: tollgate\r\n\r\n`);
    await until("an answer", () => answered.received().includes('"status":"ok"'));
    const halfway = await openConnection(gateway);
    const body = wordy("", false);
    halfway.socket.write(rawPost(token, body.slice(0, 20), body.length));
    // Known to be there: requests on one event loop are taken in their order.
    await (await fetch(`${gateway.url}/health`)).text();
    const stoppedAt = performance.now();
    gateway.process.kill("SIGTERM");
    expect(await gateway.process.exited).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(15_000);
    for (const { socket } of [silent, answered, halfway]) socket.destroy();
  });
}, 10_000);

test("a call whose body is complete only after SIGTERM is refused, and nothing is held for it", async () => {
  simulators.clear();
  const { spent, openHolds } = await withGateway(async (gateway, token) => {
    const { socket, received } = await openConnection(gateway);
    const request = rawPost(token, wordy("", false));
    socket.write(request.slice(0, -20));
    await (await fetch(`${gateway.url}/health`)).text();
    gateway.process.kill("SIGTERM");
    // Requested by a route that calls no provider.
    await until("new calls are refused", async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${gateway.url}/v1/user/info`, { headers }).catch(() => undefined);
      return answer === undefined || answer.status === 503;
    });
    socket.write(request.slice(-20));
    expect(await gateway.process.exited).toBe(0);
    expect(received()).toMatch(/^HTTP\/1\.1 503 [\s\S]*shutting_down/);
    socket.destroy();
  });
  expect(simulators.total()).toBe(0);
  expect({ spent, openHolds }).toEqual({ spent: 0n, openHolds: 0 });
});

test("with a delay, the readiness fails at once, and calls are taken until it is over", async () => {
  const { spent } = await withGateway(
    async (gateway, token) => {
      const ready = async (): Promise<number> => (await fetch(`${gateway.url}/health/ready`)).status;
      expect(await ready()).toBe(200);
      gateway.process.kill("SIGTERM");
      await until("the readiness fails", async () => (await ready()) === 503);
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(gateway, token, wordy("", false))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await gateway.process.exited).toBe(0);
    },
    { drain_delay: "5s" },
  );
  expect(spent).toBe(20n * wordyCosts);
});

test("a stream that lasts longer than the drain is ended, and charged", async () => {
  const { spent, openHolds } = await withGateway(
    async (gateway, token) => {
      const reader = new EventReader(await post(gateway, token, wordy("+pace-1000", true)));
      // The role, and two of twenty words, one a second.
      for (let events = 0; events < 3; events += 1) await reader.next();
      gateway.process.kill("SIGTERM");
      expect(await gateway.process.exited).toBe(0);
    },
    { drain: "500ms" },
  );
  expect([openHolds, spent > 0n, spent < wordyCosts]).toEqual([0, true, true]);
});
