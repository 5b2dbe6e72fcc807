/** `serve --handover`: a process takes the port of another one over under calls, and no second one serves a file of SQLite. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openNodeStore } from "../../src/nodes/index.ts";
import {
  chatPath,
  EventReader,
  type Gateway,
  gatedBody,
  type GatedUpstream,
  type GatewayOptions,
  expectCleanAudit,
  oneCredit,
  oneCreditACall,
  runCli,
  sharedPostgres,
  spentBy,
  startGatedUpstream,
  startGateway,
  until,
} from "../kit/index.ts";
import { startSteadyCallers } from "../kit/steady-callers.ts";

const CALLS = 10_000;

const postgres = sharedPostgres();
let upstream: GatedUpstream;
beforeAll(() => {
  upstream = startGatedUpstream();
});
afterAll(() => upstream.stop());

const options = () => ({
  providers: { openai: { kind: "openai", base_url: upstream.url, api_key: "sk-upstream" } },
  config: oneCreditACall,
});

const portOf = ({ url }: Gateway): string => new URL(url).port;

/** A next process on the port and the storage of a gateway. */
const nextOf = (gateway: Gateway, more: Partial<GatewayOptions> = {}): Promise<Gateway> =>
  startGateway({
    ...options(),
    ...more,
    storage: gateway.storageUrl,
    arguments: ["--port", portOf(gateway), "--handover", ...(more.arguments ?? [])],
  });

const isRunning = ({ process: { exitCode, signalCode } }: Gateway): boolean => exitCode === null && signalCode === null;

test.skipIf(process.platform !== "linux")(
  `no call of ${CALLS} fails while processes take the port over, on SQLite`,
  async () => {
    const first = await startGateway(options());
    const token = await first.token({ user: "ann", credits: 10n ** 9n * oneCredit });
    const stream = await fetch(first.url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(gatedBody("held-stream", { stream: true })),
    });
    const reader = new EventReader(stream);
    await reader.next();
    const callers = startSteadyCallers({ url: first.url, token, model: "openai/quick", count: CALLS, atOnce: 16 });
    await until("calls run", () => callers.ended() > CALLS / 10);
    const second = await nextOf(first);
    expect(second.url).toBe(first.url);
    await until("the second process has calls", () => callers.ended() > CALLS / 2);
    // A stream of the first one goes on meanwhile.
    expect(isRunning(first)).toBe(true);
    upstream.release();
    expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
    expect(await first.process.exited).toBe(0);
    const third = await nextOf(second);
    expect(await second.process.exited).toBe(0);
    expect(await callers.failures).toEqual([]);
    expect(callers.ended()).toBe(CALLS);
    expect(await spentBy(third, "ann")).toBeGreaterThanOrEqual(BigInt(CALLS + 1) * oneCredit);
    await expectCleanAudit(third);
    expect(await third.stop()).toBe(0);
    await second.stop();
    await first.stop();
  },
);

test.skipIf(process.platform !== "linux")(
  "a process that is not ready gets no call, and takes over when it is",
  async () => {
    const first = await startGateway(options());
    const token = await first.token({ user: "cid", credits: 10n ** 9n * oneCredit });
    const flag = join(first.folder, "unready");
    writeFileSync(flag, "");
    const preload = join(import.meta.dir, "__fixtures__/unready.ts");
    const next = nextOf(first, { preload, variables: { UNREADY: flag } });
    const store = openNodeStore(first.storage);
    await until("the next process is there", async () => (await store.seenSince(0)).length === 2);
    for (let round = 0; round < 10; round += 1) {
      // Each has a connection of its own, of which the kernel would give half to a second listener.
      const call = { method: "POST", headers: { authorization: `Bearer ${token}` }, keepalive: false };
      const body = JSON.stringify(gatedBody("quick"));
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => fetch(first.url + chatPath, { ...call, body })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    }
    const ended = (): number => first.logLines().filter(({ msg }) => msg === "call").length;
    await until("the first process has answered all", () => ended() === 50);
    expect(isRunning(first)).toBe(true);
    rmSync(flag);
    const second = await next;
    expect(await first.process.exited).toBe(0);
    expect((await fetch(`${second.url}/health/ready`)).status).toBe(200);
    await second.stop();
    await first.stop();
  },
);

test.skipIf(process.platform !== "linux")("workers hand over to workers", async () => {
  const gateway = { ...options(), storage: await postgres.createDatabase() };
  const first = await startGateway({ ...gateway, arguments: ["--workers", "2"] });
  const token = await first.token({ user: "bob", credits: 10n ** 9n * oneCredit });
  const callers = startSteadyCallers({ url: first.url, token, model: "openai/quick", count: 600, atOnce: 8 });
  await until("calls run", () => callers.ended() > 50);
  const second = await nextOf(first, { arguments: ["--workers", "2"] });
  expect(await first.process.exited).toBe(0);
  expect(await callers.failures).toEqual([]);
  expect(await second.stop()).toBe(0);
  await first.stop();
});

test("a second process on a port, or on a file of SQLite, is refused, and the first one goes on", async () => {
  const first = await startGateway(options());
  const config = ["--config", first.configFile];
  const second = (storage: string, port: string, ...more: string[]) =>
    runCli(["serve", ...config, "--storage", storage, "--port", port, ...more]);
  const other = `sqlite:${join(first.folder, "other.db")}`;
  expect((await second(first.storageUrl, "0")).stderr).toMatch(
    /^tollgate: another gateway serves \S+: stop it, or .*\n$/,
  );
  expect((await second(other, portOf(first))).stderr).toContain("the port is in use");
  // The process there has another storage.
  expect((await second(other, portOf(first), "--handover")).stderr).toContain("is no gateway of this storage");
  expect((await second(first.storageUrl, "0", "--handover")).stderr).toContain("needs the port of the running gateway");
  expect((await fetch(`${first.url}/health/ready`)).status).toBe(200);
  // Commands beside it are not.
  expect(await first.cli("token", "list")).toMatchObject({ code: 0 });
  expect(await first.stop({ keepFolder: true })).toBe(0);
  const again = await startGateway({ ...options(), folder: first.folder });
  again.process.kill("SIGKILL");
  await again.process.exited;
  // The lock of a process that was killed is gone.
  const last = await startGateway({ ...options(), folder: first.folder });
  expect(await last.stop()).toBe(0);
  await again.stop();
});
