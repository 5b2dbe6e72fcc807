/**
 * Runs `tollgate serve` in this process, and sends it streamed chat calls: `CALL_PATH_CALLS` of them, on a storage in
 * `CALL_PATH_FOLDER`; then it is idle for `CALL_PATH_IDLE_MS`. It is run by `bun test`, whose coverage is the only one that
 * Bun has.
 */
import { test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

const calls = Number(process.env["CALL_PATH_CALLS"]);
const idleMs = Number(process.env["CALL_PATH_IDLE_MS"]);
const folder = process.env["CALL_PATH_FOLDER"] ?? "";
const main = join(import.meta.dir, "../../src/cli/main.ts");

const chunkOf = (members: object): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", ...members })}\n\n`;
const choiceOf = (content: string): string => chunkOf({ choices: [{ index: 0, delta: { content } }] });
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const end = chunkOf({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const stream = `${choiceOf("Hello")}${choiceOf(" you")}${end}${chunkOf({ choices: [], usage })}data: [DONE]\n\n`;

/** The address in the first line of the log that has one. */
function listening(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const write = process.stdout.write.bind(process.stdout);
  const look = (text: unknown): void => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(text)) ?? [];
    if (url !== undefined) resolve(url);
  };
  process.stdout.write = (text: string | Uint8Array): boolean => {
    look(typeof text === "string" ? text : Buffer.from(text).toString());
    return true;
  };
  console.log = look;
  return promise.finally(() => {
    process.stdout.write = write;
  });
}

test("the calls", async () => {
  mkdirSync(folder, { recursive: true });
  const headers = { "content-type": "text/event-stream" };
  const upstream = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(stream, { headers }) });
  const config = join(folder, "tollgate.yaml");
  writeFileSync(
    config,
    stringify({
      server: { host: "127.0.0.1", port: 0 },
      storage: `sqlite:${join(folder, "tollgate.db")}`,
      storage_journal: join(folder, "journal"),
      providers: { up: { kind: "openai", base_url: `${upstream.url.href}v1`, api_key: "k" } },
      pricing: { models: { "up/*": { input_mtok: 1, output_mtok: 2 } } },
    }),
  );
  const create = ["token", "create", "--config", config, "--user", "u", "--credits", "1000"];
  const token =
    Bun.spawnSync([process.execPath, main, ...create])
      .stdout.toString()
      .trim()
      .split("\n")
      .at(-1) ?? "";
  const url = listening();
  process.argv = [process.execPath, main, "serve", "--config", config];
  await import(main);
  for (let sent = 0; sent < calls; sent += 1) {
    const answer = await fetch(`${await url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "up/m", stream: true, messages: [{ role: "user", content: "hi" }] }),
    });
    const text = await answer.text();
    if (!text.endsWith("data: [DONE]\n\n")) throw new Error(`${answer.status} ${text}`);
  }
  await Bun.sleep(idleMs);
});
