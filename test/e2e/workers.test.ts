/** `serve --workers`: several processes on one port, and their supervisor. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  chatPath,
  cleanEnvironment,
  EventReader,
  type Gateway,
  hasProc,
  isAlive,
  letLeasesLapse,
  type PostgresServer,
  processTree,
  root,
  runCli,
  simulatedProviders,
  sorted,
  startGateway,
  startPostgres,
  stopGateways,
  until,
} from "../kit/index.ts";

const WORKERS = 3;

/** The time-out for steps with new processes: on a busy machine each needs seconds to start. */
const START_MS_MAX = 15_000;

/** Several processes on one port are for Linux only. */
const testOnLinux = test.skipIf(!hasProc);

let simulators: Simulators;
let postgres: PostgresServer;
beforeAll(async () => {
  [simulators, postgres] = await Promise.all([startSimulators(), startPostgres()]);
});
afterAll(async () => {
  await stopGateways();
  await simulators.stop();
  await postgres.stop();
});

/** A server of tools whose tool answers with the id of its process. */
const ownServer = {
  command: process.execPath,
  args: [
    "-e",
    `for await (const line of console) {
      const { id, method } = JSON.parse(line);
      const result = {
        "server/discover": { supportedVersions: ["2026-07-28"] },
        "tools/list": { tools: [{ name: "pid", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "text", text: String(process.pid) }] },
      }[method];
      console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }`,
  ],
  user: String(process.getuid?.()),
};

/** Through every worker, the program is the same process. */
async function expectOneProgram(gateway: Gateway, token: string): Promise<void> {
  const pids = new Set<string>();
  const headers = { authorization: `Bearer ${token}` };
  const askedOf = (): Set<unknown> =>
    new Set(gateway.logLines().flatMap((line) => (line["provider"] === "own" ? [line["worker"]] : [])));
  await until("every worker has called the program", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        fetch(`${gateway.url}/v1/tools/own__pid`, { method: "POST", headers, body: "{}", keepalive: false }),
      ),
    );
    for (const answer of answers) if (answer.status === 200) pids.add(await answer.text());
    return askedOf().size === WORKERS;
  });
  expect(pids.size).toBe(1);
}

const startWorkers = async (count: number): Promise<Gateway> =>
  startGateway({
    storage: await postgres.createDatabase(),
    providers: simulatedProviders(simulators),
    arguments: ["--workers", String(count)],
    config: { mcp: { servers: { own: ownServer } } },
  });

/** A call on a new connection, which the kernel assigns to any worker. */
const call = (gateway: Gateway, token: string, model = "gpt-4o-mini", stream = false): Promise<Response> =>
  fetch(gateway.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: `openai/${model}`, messages: [{ role: "user", content: "words:20" }], stream }),
    keepalive: false,
  });

const workersOf = (parent: number) => processTree(parent).filter(({ command }) => / worker \d+$/.test(command));
const numbersOf = (parent: number) => sorted(workersOf(parent).map(({ command }) => command.at(-1) ?? ""));

/** Ends one of several sessions, which are in several workers, by the command, which is in none. */
async function endSessionElsewhere(gateway: Gateway, token: string): Promise<void> {
  const closed: string[] = [];
  const clients = Array.from({ length: 12 }, () => {
    const client = new WebSocket(`${gateway.url.replace("http", "ws")}/v1/realtime?model=openai/gpt-realtime`, {
      headers: { authorization: `Bearer ${token}` },
    });
    client.addEventListener("close", ({ code, reason }) => closed.push(`${code} ${reason}`));
    return client;
  });
  const listed = await until(
    "all sessions are listed",
    async () => {
      const { stdout } = await gateway.cli("realtime", "list", "--json");
      const { data } = JSON.parse(stdout) as { data: { id: string; node: string }[] };
      return data.length === clients.length && data;
    },
    START_MS_MAX,
  );
  const nodes = [...new Set(listed.map(({ node }) => node))];
  const pids = new Set(workersOf(gateway.process.pid).map(({ pid }) => pid));
  expect(nodes.map((node) => Number(node.split(":")[1])).every((pid) => pids.has(pid))).toBe(true);
  const ended = nodes.map((node) => listed.find((each) => each.node === node)?.id ?? "");
  for (const id of ended) {
    const { code, stdout } = await gateway.cli("realtime", "end", id, "--reason", "it loops");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `session ${id} ends.\n` });
  }
  await until("they have ended", () => closed.length === ended.length);
  expect(new Set(closed)).toEqual(new Set(["1008 session_ended"]));
  const { stdout } = await gateway.cli("audit", "list", "--json");
  const { data } = JSON.parse(stdout) as { data: { act: string; target: string; reason: string }[] };
  expect(data.filter(({ act }) => act === "realtime_session.end").map(({ target }) => target)).toEqual(
    ended.toReversed().map((id) => `realtime_session:${id}`),
  );
  for (const client of clients) client.terminate();
}

const answeredBy = (gateway: Gateway): Set<unknown> =>
  new Set(gateway.logLines().flatMap((line) => (line["msg"] === "call" ? [line["worker"]] : [])));

testOnLinux(
  "all answer; one that is killed under load is replaced; SIGTERM lets open streams end in all, exit 0",
  async () => {
    const gateway = await startWorkers(WORKERS);
    const parent = gateway.process.pid;
    expect(gateway.banner).toMatchObject({ workers: WORKERS });
    expect(numbersOf(parent)).toEqual(["1", "2", "3"]);
    const token = await gateway.token();
    await until("every worker has answered", async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => call(gateway, token)));
      expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
      return answeredBy(gateway).size === WORKERS;
    });
    await expectOneProgram(gateway, token);
    // Lines that are printed once come from the supervisor.
    expect(
      gateway
        .logLines()
        .filter(({ msg }) => msg === "listening")
        .map(({ worker }) => worker),
    ).toEqual([undefined]);

    const ending = new AbortController();
    let [whole, broken] = [0, 0];
    const statuses = new Set<number>();
    const load = Array.from({ length: 8 }, async (_, index) => {
      while (!ending.signal.aborted) {
        const answer = await call(gateway, token, "gpt-4o-mini+pace-5", index % 2 === 0).catch(() => undefined);
        const text = await answer?.text().catch(() => undefined);
        if (answer !== undefined) statuses.add(answer.status);
        if (text === undefined) broken += 1;
        else whole += 1;
      }
    });
    const victim = workersOf(parent).find(({ command }) => command.endsWith(" 2"));
    if (victim === undefined) throw new Error("there is no worker 2");
    await until("the load is there", () => whole >= 20);
    process.kill(victim.pid, "SIGKILL");
    const logged = (what: string, isIt: (pid: unknown) => boolean) =>
      until(
        what,
        () => gateway.logLines().find((line) => line["msg"] === what && line["worker"] === 2 && isIt(line["pid"])),
        START_MS_MAX,
      );
    expect(await logged("worker ended", (pid) => pid === victim.pid)).toMatchObject({ signal: "SIGKILL" });
    const replacement = await logged("worker listens", (pid) => pid !== victim.pid);
    ending.abort();
    await Promise.all(load);
    expect([...statuses]).toEqual([200]);
    // Only the calls of the killed worker.
    expect(broken).toBeWithin(0, 9);
    const pids = processTree(parent).map(({ pid }) => pid);
    expect(numbersOf(parent)).toEqual(["1", "2", "3"]);
    expect(pids).toContain(Number(replacement["pid"]));

    const streams = await Promise.all(
      Array.from({ length: 12 }, () => call(gateway, token, "gpt-4o-mini+pace-20", true)),
    );
    const readers = streams.map((stream) => new EventReader(stream));
    for (const reader of readers) await reader.next();
    gateway.process.kill("SIGTERM");
    for (const reader of readers) expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
    expect(await gateway.process.exited).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);

    await letLeasesLapse(gateway.storage);
    const ledger = openLedgerStore(gateway.storage);
    await ledger.commit([{ kind: "sweep", at: Date.now() }]);
    expect(await ledger.audit()).toMatchObject({ openHolds: 0, drifts: [], shortfall: 0n });
    await gateway.stop();
  },
  60_000,
);

testOnLinux(
  "a parent that is killed leaves no worker behind, and cuts no stream",
  async () => {
    const gateway = await startWorkers(2);
    const workers = workersOf(gateway.process.pid).map(({ pid }) => pid);
    expect(workers).toHaveLength(2);
    const token = await gateway.token();
    await endSessionElsewhere(gateway, token);
    const readers = await Promise.all(
      Array.from({ length: 6 }, async () => new EventReader(await call(gateway, token, "gpt-4o-mini+pace-20", true))),
    );
    for (const reader of readers) await reader.next();
    gateway.process.kill("SIGKILL");
    for (const reader of readers) expect(await reader.rest()).toEndWith("data: [DONE]\n\n");
    await until("all workers have ended", () => workers.every((pid) => !isAlive(pid)), 10_000);
    expect(await openLedgerStore(gateway.storage).audit()).toMatchObject({ openHolds: 0, drifts: [], shortfall: 0n });
    await gateway.stop();
  },
  60_000,
);

testOnLinux(
  "the sandbox's simulators and first tokens come once",
  async () => {
    const gateway = await startGateway({
      storage: await postgres.createDatabase(),
      providers: { openai: { kind: "openai", base_url: "https://api.openai.com/v1", api_key: "${OPENAI_API_KEY}" } },
      arguments: ["--sandbox", "--workers", "2"],
    });
    const { tokens } = gateway.banner as { tokens: { user: string } };
    const answers = await Promise.all(Array.from({ length: 12 }, () => call(gateway, tokens.user)));
    expect(answers.map((answer) => [answer.status, answer.headers.get("x-tollgate-sandbox")])).toEqual(
      answers.map(() => [200, "true"]),
    );
    const tree = processTree(gateway.process.pid);
    expect(tree.filter(({ command }) => command.includes("simulators/main.ts"))).toHaveLength(1);
    expect(JSON.parse((await gateway.cli("token", "list", "--json")).stdout)).toMatchObject({ data: { length: 2 } });
    expect(await gateway.stop()).toBe(0);
    await until("no process is left", () => tree.every(({ pid }) => !isAlive(pid)));
  },
  60_000,
);

testOnLinux(
  "a port that others share already is refused, to one process and to several",
  async () => {
    const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, reusePort: true, fetch: () => new Response() });
    const options = ["--port", String(taken.port), "--storage", await postgres.createDatabase()];
    for (const more of [[], ["--workers", "2"]]) {
      const { code, stdout, stderr } = await runCli(["serve", ...options, ...more]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toStartWith(`tollgate: cannot listen on 127.0.0.1:${taken.port}: `);
    }
    await taken.stop();
  },
  60_000,
);

testOnLinux(
  "where a worker doesn't come up at the start, all are stopped and the start has failed",
  async () => {
    const storage = await postgres.createDatabase();
    const serve = Bun.spawn(
      [`${root}/bin/tollgate`, "serve", "--port", "0", "--workers", String(WORKERS), "--storage", storage],
      { cwd: root, env: cleanEnvironment(), stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    );
    const victim = await until("the third worker", () => workersOf(serve.pid)[2], START_MS_MAX);
    const pids = processTree(serve.pid).map(({ pid }) => pid);
    process.kill(victim.pid, "SIGKILL");
    expect(await serve.exited).toBe(1);
    expect(await serve.stderr.text()).toContain(`tollgate: --workers: worker ${victim.command.at(-1)} did not start\n`);
    expect(await serve.stdout.text()).toBe("");
    await until("no process is left", () => pids.every((pid) => !isAlive(pid)));
  },
  60_000,
);

test("are refused on SQLite", async () => {
  const { code, stdout, stderr } = await runCli([
    "serve",
    "--port",
    "0",
    "--workers",
    "2",
    "--storage",
    "sqlite::memory:",
  ]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^tollgate: --workers: SQLite .*\n$/);
});
