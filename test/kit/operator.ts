/** A person who administrates a running gateway: commands on its storage, and calls with the tokens they make. */
import { expect } from "bun:test";
import { type Gateway, runCli } from "./gateway.ts";
import { chatPath } from "./rig.ts";
import { until } from "./until.ts";

/** A command takes a quarter of a second of one core; side by side they wait for each other. */
const commandsAtOnce = 3;
let running = 0;

/** Runs a command to its end, not too many at once. */
export async function command(args: readonly string[]): ReturnType<typeof runCli> {
  await until("another command's end", () => running < commandsAtOnce, 60_000);
  running += 1;
  return runCli(args).finally(() => {
    running -= 1;
  });
}

/** The output of `token create --json`. */
export interface Created {
  token: string;
  id: string;
  user: string;
}

/** The code of an error, or the status of an answer. */
export async function codeOf(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { error?: { code: string } };
  return error?.code ?? `status ${answer.status}`;
}

/** The operator of the gateway that runs when they first act. */
export function operatorOf(gateway: () => Pick<Gateway, "url" | "configFile" | "storageUrl">) {
  /** Runs a command on the gateway's storage. */
  const cli = (...args: string[]): ReturnType<typeof runCli> =>
    command([...args, "--config", gateway().configFile, "--storage", gateway().storageUrl]);

  /** Runs a command that must succeed, and returns its output. */
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };

  /** The same with --json, which prints one line. */
  const runJson = async <T>(...args: string[]): Promise<T> => {
    const stdout = await run(...args, "--json");
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    return JSON.parse(stdout) as T;
  };

  const chat = (token: string, body: object = {}): Promise<Response> =>
    fetch(gateway().url + chatPath, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify({ model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello!" }], ...body }),
    });

  const info = async (token: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${gateway().url}/v1/user/info`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Record<string, unknown>;
  };

  return { cli, run, runJson, chat, info };
}
