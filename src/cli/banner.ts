import type { LoadedConfig } from "../config/index.ts";
import type { FirstTokens } from "./first-tokens.ts";
import { printJson, printLine } from "./print.ts";

export interface BannerOptions {
  url: string;
  loaded: LoadedConfig;
  /** Prefixes that simulators answer for. */
  sandbox: ReadonlyMap<string, string> | undefined;
  /** Set on the first start only. */
  tokens: FirstTokens | undefined;
  storage: string;
  /** Set if there are several. */
  workers?: number;
  json: boolean | undefined;
}

/** Prints the server's address, its providers, and a first call. */
export function printBanner(options: BannerOptions): void {
  const { url, loaded, sandbox, tokens } = options;
  const simulated = [...(sandbox?.keys() ?? [])];
  const unrouted = sandbox === undefined ? [...loaded.missingKeys] : [];
  const live = Object.keys(loaded.config.providers).filter((prefix) => !loaded.missingKeys.has(prefix));
  if (options.json === true) {
    return printJson({
      url,
      live,
      simulated,
      unrouted: Object.fromEntries(unrouted),
      storage: options.storage,
      tokens: tokens ?? null,
      ...(options.workers === undefined ? {} : { workers: options.workers }),
    });
  }
  printLine(`Tollgate listens on ${url}`);
  printLine(`  storage:   ${withoutPassword(options.storage)}`);
  if (options.workers !== undefined) printLine(`  workers:   ${options.workers} processes`);
  if (live.length > 0) printLine(`  live:      ${live.join(", ")}`);
  if (simulated.length > 0)
    printLine(`  sandbox:   ${simulated.join(", ")} (no key set: answered by simulators, not by the providers)`);
  for (const [prefix, variable] of unrouted) printLine(`  unrouted:  ${prefix} (set ${variable})`);
  if (tokens !== undefined) {
    printLine();
    printLine(`  admin token (shown once):  ${tokens.admin}`);
    printLine(`  user token  (shown once):  ${tokens.user}`);
  }
  const [prefix] = [...live, ...simulated];
  if (prefix !== undefined) printFirstCall(url, prefix, tokens?.user);
}

/** A model that each default provider has; any other provider's is for its operator to fill in. */
const firstModels: Record<string, string> = {
  openai: "gpt-5-mini",
  anthropic: "claude-haiku-4-5",
  google: "gemini-2.5-flash",
  deepseek: "deepseek-chat",
  mistral: "mistral-small-latest",
  xai: "grok-4",
};

function printFirstCall(url: string, prefix: string, token: string | undefined): void {
  const body = {
    model: `${prefix}/${firstModels[prefix] ?? "MODEL"}`,
    messages: [{ role: "user", content: "Hello!" }],
  };
  printLine();
  printLine(token === undefined ? "Call it with a token (tollgate token create --user NAME --credits 10):" : "Try it:");
  printLine();
  printLine(`curl -s ${url}/v1/chat/completions \\`);
  printLine(`  -H "Authorization: Bearer ${token ?? "$TOLLGATE_TOKEN"}" \\`);
  printLine(`  -H "Content-Type: application/json" \\`);
  printLine(`  -d '${JSON.stringify(body)}'`);
  printLine();
  if (token === undefined) return;
  printLine("What it cost:");
  printLine();
  printLine(`curl -s ${url}/v1/user/info -H "Authorization: Bearer ${token}"`);
  printLine();
}

function withoutPassword(storage: string): string {
  return storage.replace(/\/\/([^:/@]+):[^@]+@/, "//$1:***@");
}
