import { fileURLToPath } from "node:url";
import type { LoadedConfig } from "../config/index.ts";
import { upstreamName } from "../providers/index.ts";

/** The entry point of the simulators; they run in a separate process and share no code with the gateway. */
export const SIMULATORS = fileURLToPath(new URL("../../simulators/main.ts", import.meta.url));

/** The first line of the simulators' process, printed once it listens. */
interface Ready {
  url: string;
  providers: Record<string, string>;
}

export interface Sandbox {
  /** Prefix of each provider without a key → the base URL of its simulator. */
  routes: Map<string, string>;
  stop(): void;
}

/** Starts the simulators for every provider without a key, in a separate process that ends with this one. */
export async function startSandbox({ config, missingKeys }: LoadedConfig): Promise<Sandbox> {
  const child = Bun.spawn([process.execPath, SIMULATORS, "--exit-with-parent"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const ready = await readReady(child.stdout);
  const routes = [...missingKeys.keys()].map((prefix): [string, string] => {
    const provider = config.providers[prefix];
    const name = provider === undefined ? "" : upstreamName({ ...provider, baseUrl: provider.base_url });
    const generic = ready.providers["openai-compatible"];
    const url = ready.providers[name] ?? generic;
    if (url === undefined) throw new Error(`no simulator for ${prefix}`);
    return [prefix, url];
  });
  return { routes: new Map(routes), stop: () => child.kill() };
}

async function readReady(stdout: ReadableStream<Uint8Array>): Promise<Ready> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) break;
  }
  if (!text.includes("\n")) throw new Error("the simulators did not start");
  return JSON.parse(text.slice(0, text.indexOf("\n"))) as Ready;
}
