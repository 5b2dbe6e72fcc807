import { fileURLToPath } from "node:url";
import type { LoadedConfig } from "../config/index.ts";
import { upstreamName } from "../providers/index.ts";

/** The entry point of the simulators; they run in a separate process and share no code with the gateway. */
export const SIMULATORS = fileURLToPath(new URL("../../simulators/main.ts", import.meta.url));

/** The first line of the simulators' process, printed once it listens. */
interface Ready {
  url: string;
  providers: Record<string, string>;
  web: Record<string, string>;
  site: string;
}

export interface Sandbox {
  /** Prefix of each provider without a key → the base URL of its simulator. */
  routesOf: (loaded: Pick<LoadedConfig, "config" | "missingKeys">) => Map<string, string>;
  /** The demo site, for example `http://127.0.0.1:8788`: the only private address whose pages may be read. */
  site: string;
  /** A simulated search engine over the demo site. */
  searchUrl: string | undefined;
  stop(): void;
}

/**
 * Starts the simulators for every provider without a key, and the demo site, in a separate process that ends with this
 * one. The demo site gets the port after the gateway's, so that its address is known, unless that port is taken.
 * Port 0 lets the system choose.
 */
export async function startSandbox(gatewayPort = 0): Promise<Sandbox> {
  const sitePort = portAfter(gatewayPort);
  const child = Bun.spawn([process.execPath, SIMULATORS, "--site-port", sitePort, "--exit-with-parent"], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const ready = await readReady(child.stdout);
  const routesOf: Sandbox["routesOf"] = ({ config, missingKeys }) => {
    const routes = [...missingKeys.keys()].map((prefix): [string, string] => {
      const provider = config.providers[prefix];
      const name = provider === undefined ? "" : upstreamName({ ...provider, baseUrl: provider.base_url });
      const url = ready.providers[name] ?? ready.providers["openai-compatible"];
      if (url === undefined) throw new Error(`no simulator for ${prefix}`);
      return [prefix, url];
    });
    return new Map(routes);
  };
  return { routesOf, site: ready.site, searchUrl: ready.web["searxng"], stop: () => child.kill() };
}

/** The model for summaries and JSON of pages in a sandbox, if its provider is simulated. */
const SANDBOX_MODEL = { prefix: "openai", id: "openai/gpt-5-mini" };

/**
 * The configuration with the sandbox's additions: the demo site may be read, by its host and port, a simulated search engine finds
 * it, and a model is there.
 */
export function withSandbox(loaded: LoadedConfig, { site, routesOf, searchUrl }: Sandbox): LoadedConfig {
  const { web } = loaded.config;
  const routes = routesOf(loaded);
  const model = web.model ?? (routes.has(SANDBOX_MODEL.prefix) ? SANDBOX_MODEL.id : undefined);
  const isLocal = web.search.backend === "local" && searchUrl !== undefined;
  const search = isLocal ? { ...web.search, backend: "searxng" as const, base_url: searchUrl } : web.search;
  const allowed = [...web.allow_private_hosts, new URL(site).host];
  return { ...loaded, config: { ...loaded.config, web: { ...web, model, search, allow_private_hosts: allowed } } };
}

/** The port for the demo site of a server with this port; 0 (the system chooses) if the server's own was chosen so. */
export function portAfter(port: number): string {
  return String(port === 0 || port === 65_535 ? 0 : port + 1);
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
