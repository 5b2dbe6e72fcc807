import type { Problem } from "../shared/check.ts";
import type { Call } from "../shared/types.ts";

/** Versions of the native API; the newer one takes no sampling parameters. */
const versions = ["2023-06-01", "2026-10-21"] as const;

/** The form of a beta's name. New names appear every month, and clients such as Claude Code send undocumented ones. */
const betaName = /^[a-z0-9]+(?:-[a-z0-9]+)*-20\d{2}-?\d{2}-?\d{2}$/;

/** Checks the headers that choose the version and the beta features. */
export function checkVersion({ headers }: Pick<Call, "headers">): Problem | null {
  const version = headers["anthropic-version"];
  if (version === undefined) return { kind: "missing", field: "anthropic-version" };
  if (!versions.some((known) => known === version)) {
    const message = `"${version}" is not a valid version`;
    return { kind: "bad-value", field: "anthropic-version", message, value: version };
  }
  const unknown = betaNames(headers).find((name) => !betaName.test(name));
  if (unknown === undefined) return null;
  return { kind: "bad-value", field: "anthropic-beta", message: `Unexpected value \`${unknown}\``, value: unknown };
}

function betaNames(headers: Call["headers"]): string[] {
  const names = (headers["anthropic-beta"] ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

/** Whether the API may store the conversation, answer by answer. */
export function hasThreads({ headers }: Pick<Call, "headers">): boolean {
  return betaNames(headers).includes("message-threads-2026-08-12");
}

/** Whether other models may answer if the requested one declines. */
export function hasFallbacks({ headers }: Pick<Call, "headers">): boolean {
  return betaNames(headers).some((name) => name.startsWith("server-side-fallback-"));
}

/** True where sampling parameters are no longer part of the request. */
export function isLeanVersion({ headers }: Pick<Call, "headers">): boolean {
  return headers["anthropic-version"] === "2026-10-21";
}
