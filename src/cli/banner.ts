import { resolve } from "node:path";
import type { LoadedConfig } from "../config/index.ts";
import { createTokenCommand, displayedStorage, quoteForShell } from "./create-token-command.ts";
import type { FirstTokens } from "./first-tokens.ts";
import { launcherCommand } from "./launcher.ts";
import { printJson, printLine } from "./print.ts";

/** The settings with which the server was started. */
export interface ServerSettings {
  loaded: LoadedConfig;
  storageUrl: string;
  /** The value of `--storage`, if given. */
  storageOption: string | undefined;
  json: boolean | undefined;
  /** The file of the certificate that clients must be told to trust, if it was made here. */
  authority: string | undefined;
}

export interface RunningGateway {
  url: string;
  /** Prefix → simulator's URL, of the providers that simulators answer for; undefined without `--sandbox`. */
  sandbox: ReadonlyMap<string, string> | undefined;
  /** The demo site of the sandbox. */
  site: string | undefined;
  /** Set on the first start of a sandbox only. */
  tokens: FirstTokens | undefined;
  /** Signs a browser of this machine in to the sandbox's console, once. */
  link?: string | undefined;
  /** The number of processes, if there are several. */
  workers?: number;
}

/** Prints the server's address, its storage, its providers, and the commands for a first call. */
export function printBanner(settings: ServerSettings, gateway: RunningGateway): void {
  const { loaded } = settings;
  const simulated = [...(gateway.sandbox?.keys() ?? [])];
  const unrouted = gateway.sandbox === undefined ? [...loaded.missingKeys] : [];
  const live = Object.keys(loaded.config.providers).filter((prefix) => !loaded.missingKeys.has(prefix));
  const config = loaded.file === undefined ? undefined : resolve(loaded.file);
  const storage = displayedStorage(settings.storageUrl);
  if (settings.json === true) {
    return printJson({
      url: gateway.url,
      live,
      simulated,
      unrouted: Object.fromEntries(unrouted),
      config: config ?? null,
      storage,
      tokens: gateway.tokens ?? null,
      ...(gateway.site === undefined ? {} : { site: gateway.site }),
      ...(gateway.link === undefined ? {} : { console: gateway.link }),
      ...(gateway.workers === undefined ? {} : { workers: gateway.workers }),
      ...(settings.authority === undefined ? {} : { authority: settings.authority }),
    });
  }
  printLine(`Tollgate listens on ${gateway.url}`);
  printLine(`  config:    ${config ?? `the defaults (there is no ${resolve("tollgate.yaml")})`}`);
  printLine(`  storage:   ${storage}`);
  if (gateway.workers !== undefined) printLine(`  workers:   ${gateway.workers} processes`);
  if (live.length > 0) printLine(`  live:      ${live.join(", ")}`);
  if (simulated.length > 0)
    printLine(`  sandbox:   ${simulated.join(", ")} (no key set: answered by simulators, not by the providers)`);
  if (gateway.site !== undefined) printLine(`  demo site: ${gateway.site}`);
  for (const [prefix, variable] of unrouted) printLine(`  unrouted:  ${prefix} (set ${variable})`);
  printLine();
  const [prefix] = [...live, ...simulated];
  if (prefix === undefined) {
    printLine("No provider has a key, so no call can be answered: set one of these variables, or add --sandbox.");
    printLine();
    return;
  }
  const { tokens } = gateway;
  if (tokens === undefined) printCreateToken(settings, gateway.url);
  else printTokens(tokens, gateway.url, settings);
  printFirstCalls(gateway, prefix, settings);
  if (gateway.link === undefined) return;
  printLine("The same in a browser, with the price of each call (signs in once, within 15 minutes):");
  printLine();
  printLine(gateway.link);
  printLine();
}

function printTokens(tokens: FirstTokens, url: string, settings: ServerSettings): void {
  printLine(`  user token  (shown once):  ${tokens.user}`);
  printLine(`  admin token (shown once):  ${tokens.admin}`);
  printLine();
  printLine(
    "The user token has 100 credits. The admin token has none: it is an owner's, for the routes under /admin/v1/.",
  );
  printLine();
  printVariables(url, tokens.user, settings);
}

function printCreateToken(settings: ServerSettings, url: string): void {
  const { loaded, storageUrl, storageOption } = settings;
  const launcher = launcherCommand(process.env["PATH"] ?? "");
  const command = createTokenCommand({ launcher, file: loaded.file, storageUrl, storageOption });
  if (command === undefined) return;
  const lacksPassword = storageOption !== undefined && command.includes("postgres") && !command.includes(storageUrl);
  const hint = lacksPassword ? " (add the password to the storage's URL)" : "";
  printVariables(url, `"$(${command})"`, settings, `; the second line creates a token with 10 credits${hint}`);
}

/** The variables that the examples and the blocks of docs/clients.md expect. */
function printVariables(url: string, token: string, { authority }: ServerSettings, hint = ""): void {
  printLine(`In the terminal of a client${hint}:`);
  printLine();
  printLine(`export TOLLGATE_URL=${url}`);
  printLine(`export TOLLGATE_TOKEN=${token}`);
  if (authority !== undefined) printLine(`export NODE_EXTRA_CA_CERTS=${quoteForShell(authority)}`);
  printLine();
  printLine(`The settings of clients: ${url}/ in a browser, and docs/clients.md.`);
  printLine();
}

/** A model of each default provider; for another provider, the operator has to fill in a model. */
const firstModels: Record<string, string> = {
  openai: "gpt-5-mini",
  anthropic: "claude-haiku-4-5",
  google: "gemini-2.5-flash",
  deepseek: "deepseek-chat",
  mistral: "mistral-small-latest",
  xai: "grok-4",
};

function printFirstCalls({ url, site, tokens }: RunningGateway, prefix: string, settings: ServerSettings): void {
  const curl = curlOf(settings);
  const body = {
    model: `${prefix}/${firstModels[prefix] ?? "MODEL"}`,
    messages: [{ role: "user", content: "Hello!" }],
  };
  const authorization = `"Authorization: Bearer ${tokens?.user ?? "$TOLLGATE_TOKEN"}"`;
  printLine(tokens === undefined ? "Then try it:" : "Try it:");
  printLine();
  printPost(`${curl} ${url}/v1/chat/completions`, authorization, body);
  if (site !== undefined) {
    printLine("A page of the demo site as Markdown:");
    printLine();
    printPost(`${curl} ${url}/v2/scrape`, authorization, { url: `${site}/` });
  }
  printLine("What the calls have cost:");
  printLine();
  printLine(`${curl} ${url}/v1/user/info -H ${authorization}`);
  printLine();
}

/** A variable of curl's would replace the certificates that it trusts; that of Node.js adds one. */
function curlOf({ authority }: ServerSettings): string {
  return authority === undefined ? "curl -s" : `curl -s --cacert ${quoteForShell(authority)}`;
}

function printPost(request: string, authorization: string, body: object): void {
  printLine(`${request} \\`);
  printLine(`  -H ${authorization} \\`);
  printLine(`  -H "Content-Type: application/json" \\`);
  printLine(`  -d '${JSON.stringify(body)}'`);
  printLine();
}
