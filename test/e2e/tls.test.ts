/** The gateway's own TLS: its certificate is replaced while it runs, and open streams and sockets go on. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { type Issued, selfSigned } from "../../src/upstream/__fixtures__/certificates.ts";
import { failureOf } from "../kit/failure-of.ts";
import {
  chatPath,
  EventReader,
  type Gateway,
  hasProc,
  type PostgresServer,
  processTree,
  runCli,
  simulatedProviders,
  startGateway,
  startPostgres,
  stopGateways,
  until,
} from "../kit/index.ts";

const issue = (name: string): Issued => selfSigned({ name, hosts: ["127.0.0.1"] });

let simulators: Simulators;
let folder: string;
beforeAll(async () => {
  simulators = await startSimulators();
  folder = mkdtempSync(join(tmpdir(), "tollgate-tls-"));
});
afterAll(async () => {
  await stopGateways();
  await simulators.stop();
  rmSync(folder, { recursive: true });
});

let pairs = 0;

/** The files of a pair, of which `replace` renames others into their places. */
function filesOf(first: Issued) {
  pairs += 1;
  const files = { cert: join(folder, `${pairs}-cert.pem`), key: join(folder, `${pairs}-key.pem`) };
  const put = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const replace = ({ cert, key }: Issued): void => {
    put(files.cert, cert);
    put(files.key, key);
  };
  replace(first);
  return { files, replace };
}

const start = (tls: object, more: { storage?: string; arguments?: string[] } = {}): Promise<Gateway> =>
  startGateway({ providers: simulatedProviders(simulators), config: { server: { tls } }, ...more });

/** The name in the certificate of a new connection; undefined if it is cut, as while another listener takes over. */
function certificateOf({ url }: Gateway): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().subject.CN as string);
    socket.end();
  });
  socket.on("error", () => resolve(undefined));
  return promise;
}

const call = (gateway: Gateway, token: string, ca: string, pace = ""): Promise<Response> =>
  fetch(gateway.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({
      model: `openai/gpt-4o-mini${pace}`,
      messages: [{ role: "user", content: "words:20" }],
      stream: true,
    }),
    tls: { ca },
  });

/** A socket of the Responses API, with its messages. */
async function openSocket(gateway: Gateway, token: string, ca: string) {
  const socket = new WebSocket(`${gateway.url.replace("https", "wss")}/v1/responses`, {
    headers: { authorization: `Bearer ${token}` },
    tls: { ca },
  } as unknown as string[]);
  const messages: string[] = [];
  socket.addEventListener("message", ({ data }) => messages.push(String(data)));
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  return {
    socket,
    async ask(): Promise<void> {
      messages.length = 0;
      socket.send(JSON.stringify({ type: "response.create", model: "openai/gpt-4o-mini", input: "words:3" }));
      await until("the response", () => messages.some((message) => message.includes('"response.completed"')));
    },
  };
}

test("a new certificate is for new connections; open streams and WebSockets go on; one that doesn't fit changes nothing", async () => {
  const [first, second, third] = [issue("first"), issue("second"), issue("third")];
  const { files, replace } = filesOf(first);
  const gateway = await start(files);
  expect(gateway.url).toStartWith("https://");
  const token = await gateway.token();
  const stream = new EventReader(await call(gateway, token, first.cert, "+pace-500"));
  await stream.next();
  const responses = await openSocket(gateway, token, first.cert);
  await responses.ask();

  replace(second);
  await until("the new certificate", async () => (await certificateOf(gateway)) === "second");
  await responses.ask();
  expect(await (await call(gateway, token, second.cert)).text()).toEndWith("data: [DONE]\n\n");
  const opened = await openSocket(gateway, token, second.cert);
  await opened.ask();

  writeFileSync(files.cert, third.cert);
  await until("the log", () => gateway.log().includes("the new certificate cannot be used; the old one stays"));
  expect(await certificateOf(gateway)).toBe("second");
  replace(third);
  await until("the third certificate", async () => (await certificateOf(gateway)) === "third");
  await responses.ask();
  await opened.ask();
  expect(await stream.rest()).toEndWith("data: [DONE]\n\n");
  for (const { socket } of [responses, opened]) socket.close();
  expect(gateway.log()).not.toContain("PRIVATE KEY");
  expect(await gateway.stop()).toBe(0);
});

test("a stop waits for streams of connections from before a new certificate, and takes no other certificate", async () => {
  const [first, second] = [issue("first"), issue("second")];
  const { files, replace } = filesOf(first);
  const gateway = await start(files);
  const stream = new EventReader(await call(gateway, await gateway.token(), first.cert, "+pace-400"));
  await stream.next();
  replace(second);
  await until("the new certificate", async () => (await certificateOf(gateway)) === "second");
  gateway.process.kill("SIGTERM");
  replace(issue("third"));
  expect(await stream.rest()).toEndWith("data: [DONE]\n\n");
  expect(await gateway.process.exited).toBe(0);
  expect(gateway.log().match(/certificate replaced/g)).toHaveLength(1);
  await gateway.stop();
});

test("a pair that doesn't fit stops the start, and so does a port that is in use", async () => {
  const { files } = filesOf(issue("first"));
  const wrong = { ...files, key: filesOf(issue("other")).files.key };
  expect(String(await failureOf(start(wrong)))).toMatch(
    /tollgate: config: server\.tls\.key: \S+ is not the key of the certificate/,
  );
  expect(String(await failureOf(start({ ...files, cert: join(folder, "none.pem") })))).toMatch("there is no file");
  const gateway = await start(files);
  const { port } = new URL(gateway.url);
  expect(String(await failureOf(start(files, { arguments: ["--port", port] })))).toMatch("the port is in use");
  await gateway.stop();
});

test("doctor shows the certificate, and fails for one that is expired or doesn't fit", async () => {
  const from = new Date(Date.now() - 10_000_000);
  const soon = new Date(Date.now() + 5 * 86_400_000);
  const { files, replace } = filesOf(selfSigned({ name: "soon", until: soon }));
  const gateway = await start(files);
  const check = async () => {
    const { stdout, code } = await gateway.cli("doctor", "--json");
    const findings = JSON.parse(stdout) as { check: string; ok: boolean; warning?: boolean; detail: string }[];
    return { code, ...findings.find(({ check: name }) => name === "certificate") };
  };
  expect(await check()).toMatchObject({ code: 0, ok: true, warning: true });
  replace(selfSigned({ name: "expired", from, until: new Date(Date.now() - 1_000_000) }));
  expect(await check()).toMatchObject({
    code: 1,
    ok: false,
    detail: expect.stringContaining("is valid until") as unknown,
  });
  writeFileSync(files.key, issue("other").key);
  expect(await check()).toMatchObject({
    code: 1,
    ok: false,
    detail: expect.stringContaining("is not the key") as unknown,
  });
  await gateway.stop();
});

test.skipIf(!hasProc)(
  "workers take a new certificate, each by itself, and so does one that is started later",
  async () => {
    const postgres: PostgresServer = await startPostgres();
    const [first, second] = [issue("first"), issue("second")];
    const { files, replace } = filesOf(first);
    const gateway = await start(files, { storage: await postgres.createDatabase(), arguments: ["--workers", "2"] });
    const token = await gateway.token();
    const stream = new EventReader(await call(gateway, token, first.cert, "+pace-500"));
    await stream.next();
    replace(second);
    const changed = () => gateway.logLines().filter(({ msg }) => msg === "certificate replaced");
    // The two workers and their parent.
    await until("all have it", () => changed().length === 3);
    for (let time = 0; time < 10; time += 1) expect(await certificateOf(gateway)).toBe("second");
    expect(await stream.rest()).toEndWith("data: [DONE]\n\n");

    // A worker that is started while the files don't fit gets the last pair that did.
    writeFileSync(files.cert, issue("third").cert);
    const victim = processTree(gateway.process.pid).find(({ command }) => command.endsWith(" worker 1"));
    if (victim === undefined) throw new Error("there is no worker 1");
    process.kill(victim.pid, "SIGKILL");
    const listens = () => gateway.logLines().filter(({ msg, worker }) => msg === "worker listens" && worker === 1);
    await until("another worker", () => listens().length === 2);
    for (let time = 0; time < 10; time += 1) expect(await certificateOf(gateway)).toBe("second");
    expect(await gateway.stop()).toBe(0);
    await postgres.stop();
  },
);

test("--sandbox --tls makes a pair in the folder of the state, and names its certificate", async () => {
  const gateway = await startGateway({ providers: {}, arguments: ["--sandbox", "--tls"] });
  const { authority } = gateway.banner as { authority: string };
  expect(authority).toBe(join(gateway.folder, "tls-cert.pem"));
  const made = readFileSync(authority, "utf8");
  expect((await fetch(`${gateway.url}/health`, { tls: { ca: made } })).status).toBe(200);
  const page = await fetch(gateway.url, { headers: { accept: "text/html" }, tls: { ca: made } });
  expect(await page.text()).toContain(gateway.url);
  const document = (await (await fetch(`${gateway.url}/openapi.json`, { tls: { ca: made } })).json()) as object;
  expect(document).toMatchObject({ servers: [{ url: gateway.url, description: "Production" }] });
  expect(await runCli(["health", "--url", gateway.url])).toMatchObject({ code: 0, stdout: "ready\n" });
  // As the image's health check does, which does not know the configuration.
  const plain = gateway.url.replace("https:", "http:");
  expect(await runCli(["health", "--url", plain])).toMatchObject({ code: 0, stdout: "ready\n" });
  await gateway.stop({ keepFolder: true });

  const again = await startGateway({ providers: {}, arguments: ["--sandbox", "--tls"], folder: gateway.folder });
  expect(readFileSync(authority, "utf8")).toBe(made);
  await again.stop();
});

test("the banner has the certificate among the variables, and in the commands", async () => {
  const home = mkdtempSync(join(folder, "home "));
  const { files } = filesOf(issue("first"));
  const child = Bun.spawn([join(import.meta.dir, "../../bin/tollgate"), "serve", "--sandbox", "--tls", "--port", "0"], {
    cwd: home,
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stdout: "pipe",
    stderr: "ignore",
  });
  let printed = "";
  for await (const piece of child.stdout) {
    printed += new TextDecoder().decode(piece);
    if (printed.includes("/v1/user/info")) break;
  }
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
  const cert = `'${join(home, "data/tls-cert.pem")}'`;
  expect(printed).toContain("Tollgate listens on https://127.0.0.1:");
  expect(printed).toContain(`export NODE_EXTRA_CA_CERTS=${cert}\n`);
  expect(printed).toContain(`curl -s --cacert ${cert} https://127.0.0.1:`);

  for (const [options, config, message] of [
    [["--tls"], {}, "--tls: only with --sandbox"],
    [["--sandbox", "--tls"], { server: { tls: files } }, "--tls: the configuration has a certificate already"],
  ] as const) {
    const file = join(home, "tollgate.yaml");
    writeFileSync(file, JSON.stringify(config));
    const { code, stdout, stderr } = await runCli(["serve", "--port", "0", "--config", file, ...options]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith(`tollgate: ${message}`);
  }
});
