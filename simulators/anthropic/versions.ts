import type { Problem } from "../shared/check.ts";
import type { Call } from "../shared/types.ts";

/** Versions of the native API; the newer one takes no sampling parameters. */
const versions = ["2023-06-01", "2026-10-21"] as const;

/** Beta names that are taken; any other is refused. */
const betas = new Set([
  "advisor-tool-2026-03-01",
  "code-execution-2025-05-22",
  "compact-2026-01-12",
  "compact-2026-09-04",
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "dev-full-thinking-2025-05-14",
  "extended-cache-ttl-2025-04-11",
  "fallback-credit-2026-07-01",
  "fast-mode-2026-02-01",
  "files-api-2025-04-14",
  "inline-tools-2026-09-15",
  "interleaved-thinking-2025-05-14",
  "mcp-client-2025-04-04",
  "mcp-client-2025-11-20",
  "mcp-client-2026-09-15",
  "message-batches-2024-09-24",
  "message-threads-2026-08-12",
  "mid-conversation-output-config-2026-07-01",
  "mid-conversation-tool-changes-2026-07-01",
  "model-context-window-exceeded-2025-08-26",
  "output-128k-2025-02-19",
  "output-300k-2026-03-24",
  "pdfs-2024-09-25",
  "prompt-caching-2024-07-31",
  "server-side-fallback-2026-07-01",
  "skills-2025-10-02",
  "structured-outputs-2025-11-13",
  "task-budgets-2026-03-13",
  "thinking-binding-controls-2026-08-01",
  "thinking-display-updates-2026-08-18",
  "thinking-token-count-2026-05-13",
  "token-counting-2024-11-01",
  "token-efficient-tools-2025-02-19",
]);

/** What is wrong with the headers that choose the version and the beta features. */
export function checkVersion({ headers }: Pick<Call, "headers">): Problem | null {
  const version = headers["anthropic-version"];
  if (version === undefined) return { kind: "missing", field: "anthropic-version" };
  if (!versions.some((known) => known === version)) {
    const message = `"${version}" is not a valid version`;
    return { kind: "bad-value", field: "anthropic-version", message, value: version };
  }
  const unknown = betaNames(headers).find((name) => !betas.has(name));
  if (unknown === undefined) return null;
  return { kind: "bad-value", field: "anthropic-beta", message: `Unexpected value \`${unknown}\``, value: unknown };
}

function betaNames(headers: Call["headers"]): string[] {
  const names = (headers["anthropic-beta"] ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

/** True where a conversation may be held by the API, answer by answer. */
export function hasThreads({ headers }: Pick<Call, "headers">): boolean {
  return betaNames(headers).includes("message-threads-2026-08-12");
}

/** True where sampling parameters are no longer part of the request. */
export function isLeanVersion({ headers }: Pick<Call, "headers">): boolean {
  return headers["anthropic-version"] === "2026-10-21";
}
