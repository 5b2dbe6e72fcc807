/** The environment variables that a configuration may refer to. */
export type Variables = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

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
}

/** An unset upstream key leaves its provider without a route instead of stopping the startup. */
const isProviderKey = (path: string): boolean => /^providers\..+\.api_keys?(\.\d+)?$/.test(path);

/**
 * Replaces `${VAR}` and `${VAR:-default}` in every string. An empty variable counts as unset, as in the shell's `:-`.
 * Throws a `ConfigError` that names the key if a variable without a default is unset, except for provider keys.
 */
export function interpolate(source: unknown, variables: Variables): Interpolated {
  const missingKeys = new Map<string, string>();
  const replace = (text: string, path: string): string | undefined => {
    let missing: string | undefined;
    const replaced = text.replace(REFERENCE, (_, name: string, fallback: string | undefined) => {
      const value = variables[name];
      if (value !== undefined && value !== "") return value;
      if (fallback === undefined) missing = name;
      return fallback ?? "";
    });
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
  return { value: walk(source, ""), missingKeys };
}
