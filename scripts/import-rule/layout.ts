/** The folders of src/ from the lowest level to the highest: one entry a level. A new folder gets its level here. */
export const levels: readonly (readonly string[])[] = [
  ["core", "testing", "calendar"],
  ["streaming", "audio", "storage", "telemetry", "config"],
  ["upstream", "bodies", "pages"],
  ["auth", "ledger", "pricing", "providers", "dialects", "media", "jobs", "outbound"],
  ["accounts", "routing", "generations", "charges", "webhooks", "browser"],
  ["sending"],
  ["responses", "stored-objects", "models"],
  // The ways of doing paid work, and of storing files: none knows another.
  ["calls", "files", "videos", "realtime", "web", "tools"],
  ["http", "admin"],
  ["openapi"],
  ["app-accounts.ts", "app-routing.ts", "app-webhooks.ts", "app-browser.ts", "app-web-stores.ts"],
  ["app-jobs.ts", "app-web.ts"],
  ["app.ts"],
  ["cli"],
];

/** The files that create the application's parts; higher levels may do so too. */
export const compositionFiles: readonly string[] = [
  "app-accounts.ts",
  "app-routing.ts",
  "app-webhooks.ts",
  "app-browser.ts",
  "app-web-stores.ts",
  "app-jobs.ts",
  "app-web.ts",
  "app.ts",
];

/** Programs of threads, which start in the middle of a call: they load the files that they need, not whole folders. */
export const threadPrograms: readonly string[] = ["src/app-web-stores.ts"];

/** The folders that answer requests: no SQL, no provider names, no prices. */
export const routeFolders: readonly string[] = ["http", "admin", "openapi"];

/** Folders that know no provider by its name; they read declared capabilities. */
export const providerBlindFolders: readonly string[] = [
  ...routeFolders,
  "calls",
  "files",
  "charges",
  "sending",
  "responses",
  "stored-objects",
  "models",
  "accounts",
  "routing",
  "jobs",
];

/** Folders whose classes and factories create a value of one call, not a part of the application. */
export const valueFolders: readonly string[] = ["core", "calendar", "streaming", "bodies", "charges", "sending"];

/** Functions named like a factory that write a record and construct nothing. */
export const recordMakers: readonly string[] = ["createToken"];

/** Top folders that stand alone: they talk to the gateway over HTTP only. */
export const standaloneAreas: readonly string[] = ["simulators", "console"];

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
