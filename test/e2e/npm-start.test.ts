/** The experience of a user who clones the repository and types `npm start`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import {
  chatModels,
  cleanEnvironment,
  hasProc,
  isAlive,
  processTree,
  residentMebibytes,
  root,
  sorted,
  until,
} from "../kit/index.ts";
import { linkPackages, makeClone } from "./clone.ts";

/** On systems without information about processes, the parts that need it are skipped. */
const testWithProc = test.skipIf(!hasProc);

let clone: string;
const started: Bun.Subprocess[] = [];
beforeAll(() => {
  clone = makeClone();
  linkPackages(clone);
});
afterAll(async () => {
  for (const child of started) child.kill("SIGKILL");
  await Promise.all(started.map((child) => child.exited));
  rmSync(clone, { recursive: true, force: true });
});

interface Started {
  npm: Bun.Subprocess<"ignore", "pipe", Bun.BunFile>;
  /** Standard output so far. */
  output: () => string;
}

/** `npm start`, on a free port; resolves when the banner is complete. */
async function npmStart(...options: string[]): Promise<Started> {
  const npm = Bun.spawn(["npm", "start", "--silent", "--", "--port", "0", ...options], {
    cwd: clone,
    env: cleanEnvironment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: Bun.file(join(clone, "stderr.log")),
  });
  started.push(npm);
  let text = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of npm.stdout) text += decoder.decode(chunk, { stream: true });
  })();
  // The banner ends with the command that shows the cost of the call.
  const isComplete = (): boolean =>
    options.includes("--json") ? text.endsWith("}\n") : text.endsWith("\n\n") && text.includes("/v1/user/info");
  await until("the banner", () => isComplete() || (npm.exitCode !== null && fail(text)), 20_000);
  return { npm, output: () => text };
}

function fail(text: string): never {
  throw new Error(`npm start ended: ${text}${readFileSync(join(clone, "stderr.log"), "utf8")}`);
}

/** Runs lines as they were printed, in a shell of the user, as if pasted. */
function paste(lines: string, cwd = clone): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", lines], { cwd, env: cleanEnvironment() });
  if (exitCode !== 0) throw new Error(`bash: ${stderr.toString()}`);
  return stdout.toString();
}

/** The commands in a banner: a `curl` line with the lines that it is continued on. */
function commandsIn(banner: string): string[] {
  return [...banner.matchAll(/^curl (?:.*\\\n)*.*$/gm)].map(([command]) => command);
}

const gatewayOf = (npm: Bun.Subprocess): number | undefined =>
  processTree(npm.pid).find(({ command }) => command.includes("src/cli/main.ts") && !command.includes("setpriv"))?.pid;
const simulatorsOf = (npm: Bun.Subprocess): number | undefined =>
  processTree(npm.pid).find(({ command }) => command.includes("simulators/main.ts"))?.pid;

describe("the first start", () => {
  let first: Started;
  let token: string;
  let url: string;
  beforeAll(async () => {
    first = await npmStart();
    token = /user token .*: +(tg_\S+)/.exec(first.output())?.[1] ?? "";
    url = /listens on (\S+)/.exec(first.output())?.[1] ?? "";
  });

  const get = async <T>(path: string): Promise<T> => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  };

  testWithProc("takes less than 125 MB before its first call, with its simulators", () => {
    const gateway = gatewayOf(first.npm) ?? 0;
    expect(residentMebibytes(gateway)).toBeWithin(20, 125);
  });

  test("prints its address, the simulated providers, and both tokens once", () => {
    const banner = first.output();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(token).toMatch(/^tg_[0-9a-z]{12}_[\w-]{43}$/);
    expect(/admin token .*: +(tg_\S+)/.exec(banner)?.[1]).toMatch(/^tg_[0-9a-z]{12}_[\w-]{43}$/);
    // People take the first one that they see.
    expect(/tg_\S+/.exec(banner)?.[0]).toBe(token);
    expect(banner).toMatch(/sandbox: .*openai.*google.*xai.*deepseek.*anthropic.*mistral.*byteplus/);
    expect(banner).toContain("The admin token has none: it is an owner's");
    expect(banner).toContain(`storage:   sqlite:${join(realpathSync(clone), "data/tollgate.db")}\n`);
    expect(banner).toContain(`config:    the defaults (there is no ${join(realpathSync(clone), "tollgate.yaml")})\n`);
    expect(existsSync(join(clone, "data/tollgate.db"))).toBe(true);
  });

  test("prints the variables that the documents expect", () => {
    const exports = first.output().match(/^export .*$/gm) ?? [];
    expect(paste(`${exports.join("\n")}\necho $TOLLGATE_URL $TOLLGATE_TOKEN`)).toBe(`${url} ${token}\n`);
  });

  test("prints an address that is a page in a browser", async () => {
    const page = /^The settings of clients: (\S+) in a browser/m.exec(first.output())?.[1] ?? "";
    const answer = await fetch(page, { headers: { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" } });
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const text = await answer.text();
    expect(text).toContain(`<code>${url}/v1</code>`);
    expect(text).toContain("This is a sandbox: simulators answer");
  });

  test("prints curl lines that work when pasted: a call, a page of the demo site, and their cost", async () => {
    const [call, page, cost, ...others] = commandsIn(first.output());
    expect(others).toEqual([]);
    const scraped = JSON.parse(paste(page ?? "")) as { data: { markdown: string } };
    expect(scraped.data.markdown).toStartWith("# Weather stations for gardens");
    const answer = JSON.parse(paste(call ?? "")) as OpenAI.ChatCompletion;
    expect(answer.choices[0]?.message.content).toBe("You said: Hello!. That is all I have to say.");
    interface Info {
      user: string;
      spend: number;
      balance: number;
    }
    const info = await until("the cost", () => {
      const shown = JSON.parse(paste(cost ?? "")) as Info;
      return shown.spend > 0 && shown;
    });
    expect(info.user).toBe("demo");
    expect(info.balance + info.spend).toBeCloseTo(100, 9);
    expect(info.spend).toBeLessThan(0.01);
  });

  test("prints an address that signs a browser of this machine in as the owner, once", async () => {
    const [, code = ""] = /\/console\/sign-in#([\w-]{43})\n/.exec(first.output()) ?? [];
    const enter = () =>
      fetch(`${url}/admin/v1/session`, { method: "POST", headers: { origin: url }, body: JSON.stringify({ code }) });
    const answer = await enter();
    expect(await answer.json()).toMatchObject({ user: "admin", role: "owner" });
    expect((await enter()).status).toBe(401);
    const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
    const body = JSON.stringify({ model: "openai/gpt-5-mini", messages: [{ role: "user", content: "hi" }] });
    // As the playground does, on the owner's own credits.
    const called = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { origin: url, cookie },
      body,
    });
    expect(called.status).toBe(200);
    await called.text();
  });

  test("the health and every answer indicate a sandbox", async () => {
    const health = await get<{ sandbox: string[] }>("/health");
    expect(sorted(health.sandbox)).toEqual(sorted(Object.keys(chatModels)));
    const calls = {
      "/v1/chat/completions": { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "hi" }] },
      "/v1/embeddings": { model: "openai/text-embedding-3-small", input: "hi" },
    };
    for (const [path, body] of Object.entries(calls)) {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      expect([answer.status, answer.headers.get("x-tollgate-sandbox")]).toEqual([200, "true"]);
      await answer.text();
    }
  });

  test.each(Object.entries(chatModels))("the OpenAI SDK: %s", async (_provider, model) => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Hello!" }];
    const listed = await get<{ data: { id: string; pricing: object | null }[] }>("/v1/models");
    if (listed.data.some(({ id, pricing }) => id === model && pricing === null)) {
      // Every call has a price: the refusal names the missing setting.
      const refused = client.chat.completions.create({ model, messages });
      expect(await refused.catch((reason: unknown) => reason)).toMatchObject({ status: 404, code: "model_unpriced" });
      return;
    }
    const whole = await client.chat.completions.create({ model, messages });
    expect(whole.choices[0]?.message.content).toBe("You said: Hello!. That is all I have to say.");
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("You said: Hello!. That is all I have to say.");
    const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const tools: OpenAI.Chat.ChatCompletionTool[] = [
      { type: "function", function: { name: "get_weather", parameters } },
    ];
    const called = await client.chat.completions.create({ model, messages, tools });
    expect(called.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: "function",
      function: { name: "get_weather" },
    });
  });

  test("the OpenAI SDK: models of every provider", async () => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });
    const ids: string[] = [];
    for await (const model of client.models.list()) ids.push(model.id);
    expect(new Set(ids.map((id) => id.split("/")[0])).size).toBe(7);
    expect(ids).toContain("openai/gpt-5-mini");
  });

  testWithProc("SIGTERM ends it with exit code 0, and nothing is left behind", async () => {
    const processes = processTree(first.npm.pid).map(({ pid }) => pid);
    expect(processes.length).toBeGreaterThan(2);
    first.npm.kill("SIGTERM");
    expect(await first.npm.exited).toBe(0);
    await until("every process of it has ended", () => !processes.some(isAlive));
    // Only log lines, and none above the level of information.
    const lines = readFileSync(join(clone, "stderr.log"), "utf8").trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => !line.startsWith('{"level":30,'))).toEqual([]);
  });

  test("a second start shows no tokens, keeps the account, and the token still works", async () => {
    const second = await npmStart();
    expect(second.output()).not.toContain("tg_");
    const [call, ...others] = commandsIn(second.output());
    expect(others).toHaveLength(2);
    expect(call).toContain("$TOLLGATE_TOKEN");
    const answer = JSON.parse(paste(`TOLLGATE_TOKEN=${token}; ${call}`)) as OpenAI.ChatCompletion;
    expect(answer.choices[0]?.message.content).toContain("You said");
    second.npm.kill("SIGTERM");
    expect(await second.npm.exited).toBe(0);
  });

  test("a second start prints the commands that create a token and use it, for a shell in any folder", async () => {
    const storage = join(clone, "my data", "t.db");
    const options = ["--storage", `sqlite:${storage}`];
    const earlier = await npmStart(...options);
    earlier.npm.kill("SIGTERM");
    expect(await earlier.npm.exited).toBe(0);
    const second = await npmStart(...options);
    const [address, create, ...others] = second.output().match(/^export .*$/gm) ?? [];
    expect(others).toEqual([]);
    expect(address).toMatch(/^export TOLLGATE_URL=http:\/\/127\.0\.0\.1:\d+$/);
    expect(create).toEndWith(`token create --user me --credits 10 --storage 'sqlite:${storage}')"`);
    const [call, , cost] = commandsIn(second.output());
    for (const folder of [clone, tmpdir()]) {
      const answer = JSON.parse(paste(`${create}\n${call}`, folder)) as OpenAI.ChatCompletion;
      expect(answer.choices[0]?.message.content).toContain("You said");
    }
    expect(JSON.parse(paste(`${create}\n${cost}`))).toMatchObject({ user: "me" });
    second.npm.kill("SIGTERM");
    expect(await second.npm.exited).toBe(0);
  });

  testWithProc(
    "with --json the banner is one line, and kill -9 of the gateway ends the simulators as well",
    async () => {
      const { npm, output } = await npmStart("--json");
      const banner = JSON.parse(output()) as { url: string; simulated: string[]; tokens: null };
      expect(output().trimEnd().split("\n")).toHaveLength(1);
      expect(banner.simulated).toHaveLength(7);
      expect(banner.tokens).toBeNull();
      const [gateway, simulators] = [gatewayOf(npm) ?? 0, simulatorsOf(npm) ?? 0];
      expect(isAlive(simulators)).toBe(true);
      process.kill(gateway, "SIGKILL");
      await until("the simulators have ended", () => !isAlive(simulators));
      expect(await npm.exited).not.toBe(0);
    },
  );

  test("takes its port from a tollgate.yaml in the folder", async () => {
    const config = join(clone, "tollgate.yaml");
    // Port 0 in the file, and no option: any other than the default shows that it was read.
    writeFileSync(config, "server: { port: 0 }\nstorage: sqlite:other/place.db\nproviders: {}\n");
    const child = Bun.spawn(["npm", "start", "--silent", "--", "--json"], {
      cwd: clone,
      env: cleanEnvironment(),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    started.push(child);
    const { value } = await child.stdout.getReader().read();
    const banner = JSON.parse(new TextDecoder().decode(value)) as { url: string };
    expect(banner.url).not.toEndWith(":8787");
    expect((await fetch(`${banner.url}/health`)).status).toBe(200);
    expect(existsSync(join(clone, "other/place.db"))).toBe(true);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    rmSync(config);
  });
});

describe("the steps of `npm start` before the server", () => {
  /** Runs the installer of a clone without packages; a script that records its arguments replaces npm. */
  function runInstaller(folder: string, npm: string) {
    const noted = join(folder, "npm-calls.jsonl");
    const script = join(folder, "npm-stand-in.cjs");
    writeFileSync(
      script,
      `require("fs").appendFileSync(${JSON.stringify(noted)}, JSON.stringify(process.argv.slice(2)) + "\\n");\n${npm}`,
    );
    const { exitCode, stderr } = Bun.spawnSync(["node", "scripts/install.mjs", "--omit=dev"], {
      cwd: folder,
      env: cleanEnvironment({ npm_execpath: script }),
    });
    const calls = existsSync(noted)
      ? readFileSync(noted, "utf8")
          .trim()
          .split("\n")
          .map((line): unknown => JSON.parse(line))
      : [];
    return { exitCode, stderr: stderr.toString(), calls };
  }

  test("it installs missing packages, once, and only those that a server needs", () => {
    const folder = makeClone();
    try {
      const install = `require("fs").symlinkSync(${JSON.stringify(join(root, "node_modules"))}, "node_modules");`;
      const first = runInstaller(folder, install);
      expect(first.exitCode).toBe(0);
      expect(first.calls).toEqual([["ci", "--omit=dev", expect.any(String), expect.any(String), expect.any(String)]]);
      const again = runInstaller(folder, "process.exit(3);");
      expect(again).toEqual({ exitCode: 0, stderr: "", calls: first.calls });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("it prints in one line why an installation failed", () => {
    const folder = makeClone();
    try {
      const { exitCode, stderr } = runInstaller(
        folder,
        `console.error("npm error code E404\\nnpm error 404 Not Found - hono"); process.exit(1);`,
      );
      expect(exitCode).toBe(1);
      const [, failure, ...others] = stderr.trimEnd().split("\n");
      expect(failure).toStartWith("tollgate: cannot install the packages: 404 Not Found - hono");
      expect(others).toEqual([]);
      rmSync(/whole output: (.*)\/npm\.log/.exec(stderr)?.[1] ?? join(folder, "nothing"), {
        recursive: true,
        force: true,
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("it is the beginning of the script in package.json", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      scripts: Record<string, string>;
    };
    expect(scripts["start"]).toStartWith("node scripts/install.mjs --omit=dev && ");
  });

  test("the launcher is found through links, and reports a missing Bun", () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-launcher-"));
    try {
      symlinkSync(join(root, "bin/tollgate"), join(folder, "tollgate"));
      const linked = Bun.spawnSync([join(folder, "tollgate"), "--version"], { env: cleanEnvironment() });
      expect(linked.stdout.toString().trim()).toMatch(/^\d+\.\d+\.\d+$/);
      const bare = makeClone();
      const missing = Bun.spawnSync([join(bare, "bin/tollgate"), "--version"], { env: { PATH: "/usr/bin:/bin" } });
      rmSync(bare, { recursive: true, force: true });
      expect(missing.exitCode).toBe(1);
      expect(missing.stderr.toString()).toMatch(/^tollgate: Bun was not found[^\n]*\n$/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
