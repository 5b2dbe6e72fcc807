/**
 * `bun bench/bodies/main.ts [WORD]`: how long another caller waits while one sends the worst bodies that the limits allow.
 * Each body (whose name contains the word) is sent three times. Beside other work waits mean little: the bar then holds for the time that
 * the gateway computes within them.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Children } from "../system/children.ts";
import { describeMachine } from "../system/machine.ts";
import { freePort } from "../system/ports.ts";
import type { Waits } from "./caller.ts";
import { type Shape, shapes } from "./shapes.ts";

const TIMES = 3;
const BAR_MS = 100;
const program = join(import.meta.dirname, "../../bin/tollgate");
const children = new Children();
const word = process.argv[2] ?? "";

/** Simulators in a process of their own, so that their work is not mistaken for the gateway's. */
async function startSimulators(): Promise<string> {
  const port = await freePort();
  children.startServer(`simulators-${port}`, [program, "sim", "--port", String(port)], {});
  return `http://127.0.0.1:${port}`;
}

async function startGateway(): Promise<{ base: string; token: string; pid: number }> {
  const port = await freePort();
  const [attacked, other] = [await startSimulators(), await startSimulators()];
  const file = join(children.directory, "tollgate.yaml");
  writeFileSync(
    file,
    `storage: sqlite:${join(children.directory, "tollgate.db")}
log: { level: error }
providers:
  openai: { kind: openai, base_url: "${attacked}/openai/v1", api_key: k }
  anthropic: { kind: anthropic, base_url: "${attacked}/anthropic", api_key: k }
  mistral: { kind: openai-compatible, preset: mistral, base_url: "${attacked}/mistral/v1", api_key: k }
  other: { kind: openai, base_url: "${other}/openai/v1", api_key: k }
pricing: { models: { "*": { input_mtok: 0.001, output_mtok: 0.001 } } }
`,
  );
  const create = ["token", "create", "--user", "bench", "--credits", "1000000", "--config", file];
  const created = Bun.spawn([program, ...create], { stdout: "pipe", stderr: "ignore" });
  const token = (await created.stdout.text()).trim();
  const gateway = children.startServer("gateway", [program, "serve", "--config", file, "--port", String(port)], {});
  const base = `http://127.0.0.1:${port}`;
  for (const url of [`${base}/health`, attacked, other]) {
    while (!(await isUp(url))) {
      gateway.assertRunning();
      await Bun.sleep(50);
    }
  }
  return { base, token, pid: gateway.pid };
}

async function isUp(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

const { base, token, pid } = await startGateway();
const caller = new Worker(join(import.meta.dirname, "caller.ts"), { argv: [base, token, String(pid)] });

function waitsSoFar(): Promise<Waits> {
  const { promise, resolve } = Promise.withResolvers<Waits>();
  caller.addEventListener("message", ({ data }: MessageEvent<Waits>) => resolve(data), { once: true });
  caller.postMessage("", []);
  return promise;
}

async function attack({ path, body }: Shape): Promise<{ status: number; bytes: number; waits: Waits }> {
  const bytes = Buffer.from(body());
  // The caller is in its stride.
  await Bun.sleep(100);
  await waitsSoFar();
  await Bun.sleep(20);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(base + path, { method: "POST", headers, body: bytes });
  await answer.text();
  await Bun.sleep(20);
  return { status: answer.status, bytes: bytes.length, waits: await waitsSoFar() };
}

const median = (numbers: number[]): string => `${Math.round(numbers.toSorted((a, b) => a - b)[TIMES >> 1] ?? 0)} ms`;

const rows = [
  "| body | MB | status | longest wait for `/health` | for a short chat | of the gateway's processor time |",
  "| --- | ---: | ---: | ---: | ---: | ---: |",
];
let longest = 0;
let longestBusy = 0;
for (const shape of shapes.filter(({ name }) => name.includes(word))) {
  process.stderr.write(`${shape.name}\n`);
  const attacks = [];
  for (let times = 0; times < TIMES; times += 1) attacks.push(await attack(shape));
  const health = median(attacks.map(({ waits }) => waits.health));
  const chat = median(attacks.map(({ waits }) => waits.chat));
  const busy = median(attacks.map(({ waits }) => waits.busy));
  longest = Math.max(longest, Number.parseInt(chat, 10), Number.parseInt(health, 10));
  longestBusy = Math.max(longestBusy, Number.parseInt(busy, 10));
  const [{ status, bytes } = { status: 0, bytes: 0 }] = attacks;
  rows.push(`| ${shape.name} | ${(bytes / 1e6).toFixed(1)} | ${status} | ${health} | ${chat} | ${busy} |`);
}
process.stdout.write(
  `${describeMachine(tmpdir())}\n\n${rows.join("\n")}\n\nThe longest is ${longest} ms, ${longestBusy} ms of them computed; the bar is ${BAR_MS} ms, of time computed if others use the processors.\n`,
);
process.exit(longest <= BAR_MS ? 0 : 1);
