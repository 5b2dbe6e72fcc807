import { resolve } from "node:path";
import { withoutPassword } from "../storage/index.ts";

export interface RunningServer {
  /** The word that starts Tollgate, as returned by `launcherCommand`. */
  launcher: string;
  /** The config file that the server has read, if any. */
  file: string | undefined;
  storageUrl: string;
  /** The value of `--storage`, if given. */
  storageOption: string | undefined;
}

/**
 * The shell command that creates a token on the storage of a running server and prints it. The paths are absolute, so
 * the command works in any folder. A password is omitted: if the storage is a Postgres from the command line with a
 * password, the user has to add it. Undefined for a storage in memory, which no other process can open.
 */
export function createTokenCommand({ launcher, file, storageUrl, storageOption }: RunningServer): string | undefined {
  if (storageUrl === "sqlite::memory:") return undefined;
  const needsStorage = storageOption !== undefined || storageUrl.startsWith("sqlite:");
  const options = [
    ...(file === undefined ? [] : ["--config", resolve(file)]),
    ...(needsStorage ? ["--storage", displayedStorage(storageUrl)] : []),
  ];
  return `${quoteForShell(launcher)} token create --user me --credits 10 ${options.map(quoteForShell).join(" ")}`.trimEnd();
}

/** A storage's URL without its password, and with the absolute path of a SQLite file. */
export function displayedStorage(url: string): string {
  const path = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  return path === undefined ? withoutPassword(url) : `sqlite:${resolve(path)}`;
}

/** A word of a shell command, in quotes if it needs them. */
export function quoteForShell(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
