import { readFileSync } from "node:fs";

/** The environment variables that a configuration may refer to. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The name of a variable, with its default; or a file. */
const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$\{file:([^}]+)\}/g;

/** An invalid configuration. The message is one line that names the key, for the person who starts the server. */
export class ConfigError extends Error {
  constructor(path: string, problem: string) {
    super(`config: ${path === "" ? "" : `${path}: `}${problem}`);
    this.name = "ConfigError";
  }
}

export interface Interpolated {
  value: unknown;
  /** The provider keys that are not set: path of the key → name of the variable. */
  missingKeys: Map<string, string>;
  /** The contents of the files that were named, by path. */
  files: Map<string, string>;
}

/** Reads a file with a secret; throws an error that says why it can't. */
export type ReadSecret = (file: string) => string;

/** An unset upstream key leaves its provider without a route instead of stopping the startup. */
const isProviderKey = (path: string): boolean => /^providers\..+\.(api_keys?(\.\d+)?|keys\.\d+\.secret)$/.test(path);

/**
 * Replaces `${VAR}`, `${VAR:-default}` and `${file:PATH}` in every string. An empty variable counts as unset, as in the shell's
 * `:-`. Throws a `ConfigError` that names the key if a variable without a default is unset, except for provider keys, or if a file
 * can't be read or is empty.
 */
export function interpolate(
  source: unknown,
  variables: Variables,
  readSecret: ReadSecret = readSecretFile,
): Interpolated {
  const missingKeys = new Map<string, string>();
  const files = new Map<string, string>();
  const secretIn = (file: string, path: string): string => {
    const content = files.get(file) ?? contentOf(file, path, readSecret);
    files.set(file, content);
    return secretOf(file, content, path);
  };
  const replace = (text: string, path: string): string | undefined => {
    let missing: string | undefined;
    const replaced = text.replace(
      REFERENCE,
      (_, name: string, fallback: string | undefined, file: string | undefined) => {
        if (file !== undefined) return secretIn(file, path);
        const value = variables[name];
        if (value !== undefined && value !== "") return value;
        if (fallback === undefined) missing = name;
        return fallback ?? "";
      },
    );
    if (missing === undefined) return replaced;
    if (!isProviderKey(path)) throw new ConfigError(path, `the variable ${missing} is not set`);
    missingKeys.set(path, missing);
    return undefined;
  };
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value === "string") return replace(value, path);
    if (Array.isArray(value)) {
      return value.map((item, index) => walk(item, `${path}.${index}`)).filter((item) => item !== undefined);
    }
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(
      ([key, item]) => [key, walk(item, path === "" ? key : `${path}.${key}`)] as const,
    );
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  };
  return { value: walk(source, ""), missingKeys, files };
}

/** Longer than any key or certificate. */
const SECRET_CHARACTERS_MAX = 65_536;

const readSecretFile: ReadSecret = (file) => readFileSync(file, "utf8");

function contentOf(file: string, path: string, readSecret: ReadSecret): string {
  try {
    return readSecret(file);
  } catch {
    throw new ConfigError(path, `cannot read the file ${file}`);
  }
}

/** The content of a file, without the line end that editors and `echo` add. */
function secretOf(file: string, content: string, path: string): string {
  const secret = content.replace(/\r?\n$/, "");
  if (secret === "") throw new ConfigError(path, `the file ${file} is empty`);
  if (secret.length > SECRET_CHARACTERS_MAX) throw new ConfigError(path, `the file ${file} is too large`);
  return secret;
}
