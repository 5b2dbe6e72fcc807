/** How sessions end: without credits, by their limits, by either side going away, and by the death of the gateway. */
import { describe, expect, test } from "bun:test";
import { engines, expectCleanAudit, hasProc, letLeasesLapse, residentMebibytes, until } from "../kit/index.ts";
import { costOf, model, nano, realtimeScene, usageOf } from "./realtime-scene.ts";

describe.each(engines)("a session on %s ends", (engine) => {
  const scene = realtimeScene(engine);

  /** How often the upstream was asked for a response. */
  const asked = (): number =>
    scene.sockets()[0]?.messages.filter((message) => message.includes("response.create")).length ?? 0;

  test("when its credits are used up: the response is cut, paid for, and the client is told", async () => {
    const poor = await scene.caller(0.2);
    const client = await scene.open({ token: poor.token });
    client.say("seconds:3000");
    client.send({ type: "response.create" });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "insufficient_credits" });
    expect(await client.ended()).toEqual({ code: 1008, reason: "insufficient_credits" });
    const spent = await scene.spent(poor.user);
    expect(spent).toBeGreaterThan(nano(0.1));
    expect(spent).toBeLessThanOrEqual(nano(0.2));
    await until("the upstream's socket is closed", () => scene.sockets()[0]?.isOpen === false);
    expect(scene.sockets()[0]?.messages.at(-1)).toContain("response.cancel");
    await scene.acceptShortfall();
  });

  test("when nothing more can be held: what runs is finished first", async () => {
    const poor = await scene.caller(0.16);
    const client = await scene.open({ token: poor.token });
    let cost = 0n;
    // Short turns: one may be over before its hold could be raised.
    for (let turn = 0; turn < 200 && client.closed === undefined; turn += 1) {
      const done = await client.ask("seconds:2", {}).catch(() => undefined);
      if (done === undefined) break;
      cost += costOf(usageOf(done));
    }
    expect(await client.ended()).toEqual({ code: 1008, reason: "insufficient_credits" });
    const spent = await scene.spent(poor.user);
    expect(spent).toBe(cost);
    expect(spent).toBeLessThanOrEqual(nano(0.16));
  });

  test("or is never opened: as many as the credits suffice for, of forty at once", async () => {
    const poor = await scene.caller(1);
    const clients = Array.from({ length: 40 }, () => scene.connect({ token: poor.token }));
    const opened = await Promise.allSettled(clients.map((client) => client.opened));
    const open = clients.filter((_, index) => opened[index]?.status === "fulfilled");
    const { held } = await scene.books(poor.user);
    expect(open.length).toBeGreaterThan(1);
    expect(open.length).toBeLessThan(40);
    expect(held).toBeLessThanOrEqual(nano(1));
    for (const client of open) {
      client.say("seconds:3");
      client.send({ type: "response.create" });
    }
    await Promise.all(open.map((client) => client.event("response.done").catch(() => undefined)));
    for (const client of open) client.socket.close();
    const spent = await scene.spent(poor.user);
    expect(spent).toBeGreaterThan(0n);
    expect(spent).toBeLessThanOrEqual(nano(1));
  });

  test("when its upstream dies in the middle of a response, which is charged by what has passed", async () => {
    const client = await scene.open();
    client.say("realtime:cut seconds:20");
    client.send({ type: "response.create" });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "upstream_interrupted" });
    expect((await client.ended()).code).toBe(1011);
    expect(await scene.spent()).toBeGreaterThan(0n);
    expect(await scene.generations()).toMatchObject([{ outcome: "interrupted" }]);
  });

  test("when its upstream closes it, with the upstream's code", async () => {
    const client = await scene.open();
    client.say("realtime:close-4001");
    client.send({ type: "response.create" });
    expect(await client.ended()).toEqual({ code: 4001, reason: "simulated" });
  });

  test("when its client closes just before the end of a response, which is cancelled and paid by its usage", async () => {
    const client = await scene.open();
    client.say("realtime:slow realtime:late seconds:60");
    client.send({ type: "response.create" });
    await client.event("response.output_audio.delta");
    client.socket.close(1000);
    const spent = await scene.spent();
    const [socket] = scene.sockets();
    expect(socket?.messages.at(-1)).toContain("response.cancel");
    // At least one tenth of a second of audio: two tokens; and the transcript, nine.
    expect(spent).toBeGreaterThanOrEqual(2n * 64_000n + 9n * 16_000n);
    expect(await scene.generations()).toMatchObject([{ outcome: "complete" }]);
  });

  test("when an operator ends it: charged as if the client had left, which is told so", async () => {
    const owner = await scene.gateway.token({ user: "root", role: "operator", credits: 0n });
    const client = await scene.open();
    const other = await scene.open();
    client.say("realtime:silent seconds:2");
    client.send({ type: "response.create" });
    await client.event("response.content_part.done");
    const path = "/admin/v1/realtime_sessions";
    const list = async () => {
      const { data } = (await (await scene.get(path, owner)).json()) as { data: Record<string, unknown>[] };
      return data;
    };
    const [first] = await until("both are listed", async () => {
      const listed = await list();
      return listed.length === 2 && listed;
    });
    expect(first).toMatchObject({ type: "realtime", model, user: scene.user, project: null, ending: false });
    const end = (id: string, as = owner) =>
      fetch(`${scene.gateway.url}${path}/${id}`, { method: "DELETE", headers: { authorization: `Bearer ${as}` } });
    expect((await end(String(first?.["id"]), scene.token)).status).toBe(403);
    expect((await end("req_of_nobody")).status).toBe(404);
    const answer = await end(String(first?.["id"]));
    expect([answer.status, await answer.json()]).toMatchObject([200, { ...first, ending: true }]);
    expect((await client.event("error"))["error"]).toMatchObject({ code: "session_ended" });
    expect(await client.ended()).toEqual({ code: 1008, reason: "session_ended" });
    expect(scene.sockets().some(({ messages }) => messages.at(-1)?.includes("response.cancel"))).toBe(true);
    await until("it is listed no more", async () => (await list()).length === 1);
    expect(other.closed).toBeUndefined();
    other.socket.close();
    expect(await scene.spent()).toBeGreaterThanOrEqual(40n * 64_000n);
    expect(await scene.generations()).toMatchObject([{ outcome: "abandoned" }]);
    await until("none is listed", async () => (await list()).length === 0);
  });

  test("when its client disappears while the upstream never reports: by the deltas, within seconds", async () => {
    const client = await scene.open();
    client.say("realtime:silent seconds:2");
    client.send({ type: "response.create" });
    await client.event("response.content_part.done");
    client.socket.terminate();
    const spent = await scene.spent();
    expect(spent).toBeGreaterThanOrEqual(40n * 64_000n);
    expect(spent).toBeLessThan(nano(0.01));
    expect(await scene.generations()).toMatchObject([{ outcome: "abandoned" }]);
  });

  test("when its client leaves before a response has begun, which is cancelled and paid", async () => {
    const client = await scene.open();
    client.say("realtime:pending");
    client.send({ type: "response.create" });
    await until("the upstream is asked", () => asked() === 1);
    client.socket.terminate();
    expect(await scene.spent()).toBeGreaterThan(0n);
    expect(scene.sockets()[0]?.messages.at(-1)).toContain("response.cancel");
    expect(await scene.generations()).toHaveLength(1);
  });

  test("when it asks for more than there are credits for: only what is held is asked for, and each is paid", async () => {
    const poor = await scene.caller(0.6);
    const client = await scene.open({ token: poor.token });
    const response = { conversation: "none", instructions: "realtime:pending" };
    for (let times = 0; times < 50; times += 1) client.send({ type: "response.create", response });
    // A response holds 2,048 tokens of speech at 64,000 nano-credits, and its input.
    const left = nano(0.6 - 0.14);
    await until("all credits are held", async () => (await scene.books(poor.user)).held > left && asked() > 1);
    client.socket.terminate();
    const spent = await scene.spent(poor.user);
    expect(asked()).toBeLessThanOrEqual(4);
    expect(await scene.generations(poor.user)).toHaveLength(asked());
    expect(spent).toBeGreaterThan(BigInt(asked()) * 4_000n);
    expect(spent).toBeLessThanOrEqual(nano(0.6));
  });

  test("when its upstream breaks off before the response begins, which costs nothing", async () => {
    const client = await scene.open();
    client.say("realtime:gone");
    client.send({ type: "response.create" });
    expect((await client.event("error"))["error"]).toMatchObject({ code: "upstream_interrupted" });
    expect((await client.ended()).code).toBe(1011);
    expect(asked()).toBe(1);
    expect(await scene.spent()).toBe(0n);
  });

  test("when its gateway is killed: charged by its last checkpoint, and nothing stays held", async () => {
    const client = await scene.open();
    client.say("realtime:slow seconds:600");
    client.send({ type: "response.create" });
    await client.event("response.output_audio.delta");
    await until(
      "a checkpoint is written",
      async () => {
        const rows = await scene.holdsObserved();
        return rows.some((observed) => observed > nano(0.001));
      },
      10_000,
    );
    await scene.restart();
    await letLeasesLapse(scene.gateway.storage);
    const spent = await until(
      "the holds have expired",
      async () => {
        const { spent: posted, held } = await scene.books();
        return held === 0n && posted;
      },
      20_000,
    );
    expect(spent).toBeGreaterThan(nano(0.001));
    await expectCleanAudit(scene.gateway, scene.acceptedShortfall);
  });

  test("when a message is too large", async () => {
    const client = await scene.open();
    client.send({ type: "input_audio_buffer.append", audio: "A".repeat(17 * 1024 * 1024) });
    expect((await client.ended()).code).toBe(1009);
  });
});

describe("the limits of sessions", () => {
  const scene = realtimeScene("SQLite", {
    realtime: {
      sessions_per_token: 2,
      session_max: "3s",
      idle_timeout: "1s",
      stalled_timeout: "1s",
      messages_per_second: 50,
      connect_timeout: "500ms",
    },
  });

  test("sessions of one token", async () => {
    await scene.open();
    const second = await scene.open();
    expect(await scene.refusal()).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    second.socket.close();
    await until("another may open", async () => {
      const client = scene.connect();
      return client.opened.then(
        () => true,
        () => false,
      );
    });
  });

  test("silence", async () => {
    const client = await scene.open();
    expect(await client.ended()).toEqual({ code: 1008, reason: "session_idle" });
  });

  test("length", async () => {
    const client = await scene.open();
    const timer = setInterval(() => client.send({ type: "input_audio_buffer.clear" }), 300);
    try {
      expect(await client.ended()).toEqual({ code: 1008, reason: "session_expired" });
    } finally {
      clearInterval(timer);
    }
  });

  test("messages a second", async () => {
    const client = await scene.open();
    for (let count = 0; count < 200; count += 1) client.send({ type: "input_audio_buffer.clear" });
    expect(await client.ended()).toEqual({ code: 1008, reason: "rate_limit_exceeded" });
  });

  test("an upstream that refuses the gateway's key", async () => {
    const refused = await scene.refusal({ query: `model=${model}%2Bstatus-401` });
    expect(refused).toMatchObject({ status: 502, code: "provider_key_refused" });
    expect(await scene.spent()).toBe(0n);
  });

  test("the time of an upstream's handshake", async () => {
    const refused = await scene.refusal({ query: `model=${model}%2Bstall-0` });
    expect(refused).toMatchObject({ status: 502, code: "upstream_unreachable" });
    expect(await scene.spent()).toBe(0n);
  });

  test("a client that does not read while the upstream floods: its memory stays flat, and it is cut", async () => {
    const client = await scene.open();
    client.say("realtime:flood");
    client.socket.pause();
    const before = hasProc ? residentMebibytes(scene.gateway.process.pid) : 0;
    client.send({ type: "response.create" });
    await until("the session has ended", () => scene.sockets()[0]?.isOpen === false, 8_000);
    const after = hasProc ? residentMebibytes(scene.gateway.process.pid) : 0;
    expect(after - before).toBeLessThan(64);
    expect(await scene.spent()).toBeGreaterThan(0n);
  });
});
