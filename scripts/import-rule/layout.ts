/** The folders of src/ from the lowest level to the highest: one entry a level. A new folder gets its level here. */
export const levels: readonly (readonly string[])[] = [
  ["core"],
  ["streaming", "audio", "storage", "telemetry", "config"],
  ["upstream", "bodies", "pages", "mcp"],
  ["audit", "auth", "ledger", "pricing", "providers", "dialects", "media", "jobs", "nodes", "outbound"],
  ["accounts", "routing", "generations", "retention", "charges", "webhooks", "browser", "tags"],
  ["sending", "metrics", "traces", "alerts", "spending", "identity", "litellm"],
  ["objects"],
  // The ways of doing paid work, and of storing files: none knows another.
  ["calls", "files", "videos", "realtime", "web", "tools", "batches"],
  // Calls that consist of several pieces of such work.
  ["hosted"],
  ["http"],
  ["openapi"],
  ["app"],
  ["cli"],
];

/**
 * The folder that creates the application's parts; higher levels may do so too. Each of its files is imported directly: a
 * command loads the part that it needs, not the whole application.
 */
export const compositionFolder = "app";

/** Whether the file has a feature's steps of the schema. The composition folder imports them alone: a command needs all tables, not all features. */
export function isSchema(path: string): boolean {
  return path.endsWith("/sql/schema.ts");
}

/** Parts of a folder that the composition folder and commands load without the rest of it, which takes most of a second. */
export const partsForCommands: readonly string[] = ["src/http/admin/index.ts", "src/realtime/open/index.ts"];

/** Programs of threads, which start in the middle of a call: they load the files that they need, not whole folders. */
export const threadPrograms: readonly string[] = [
  "src/app/web-stores-thread.ts",
  "src/app/tables-thread.ts",
  "src/app/alerts/audit-thread.ts",
  "src/app/retention/retention-thread.ts",
];

/** The folders that answer requests: no SQL, no provider names, no prices. */
export const routeFolders: readonly string[] = ["http", "openapi"];

/** Folders that know no provider by its name; they read declared capabilities. */
export const providerBlindFolders: readonly string[] = [
  ...routeFolders,
  "calls",
  "files",
  "batches",
  "charges",
  "sending",
  "objects",
  "accounts",
  "routing",
  "jobs",
];

/** Folders of `providers/` that are no provider: each may import them, and they know none. */
export const sharedProviderFolders: readonly string[] = ["shared", "facts"];

/** Folders whose classes and factories create a value of one call, not a part of the application. */
export const valueFolders: readonly string[] = ["core", "streaming", "bodies", "charges", "sending"];

/** Functions named like a factory that write a record and construct nothing. */
export const recordMakers: readonly string[] = ["createToken"];

/** Top folders that stand alone: they talk to the gateway over HTTP only. */
export const standaloneAreas: readonly string[] = ["simulators", "console"];

/** What unit tests of src/ may use from outside of it. */
export const unitTestKit = "test/kit/";

export const layoutFile = "scripts/import-rule/layout.ts";

/** The position of a file, read from its path relative to the repository's root. */
export interface Place {
  /** The top folder: src, test, simulators … */
  readonly area: string;
  /** Inside src/: the folder, or the file itself if it is directly in src/. */
  readonly folder: string | undefined;
  /** The index in `levels`; undefined if the folder has none. */
  readonly level: number | undefined;
  /** Inside src/providers/: the folder of one provider, or "shared". */
  readonly provider: string | undefined;
}

export function placeOf(path: string): Place {
  const [area = "", folder, inner] = path.split("/");
  if (area !== "src" || folder === undefined) return { area, folder: undefined, level: undefined, provider: undefined };
  const level = levels.findIndex((folders) => folders.includes(folder));
  const provider = folder === "providers" && inner?.includes(".") === false ? inner : undefined;
  return { area, folder, level: level < 0 ? undefined : level, provider };
}

/** A test, or a file shared by several tests beside it. */
export function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.includes("/__fixtures__/");
}
