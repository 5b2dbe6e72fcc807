/** The environment variables that define proxies and their exceptions. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/** Whether the environment defines a proxy for a URL. */
export function proxyRule(variables: ProxyVariables): (url: URL) => boolean {
  const find = proxyFinder(variables);
  return (url) => find(url) !== undefined;
}

/** Finds the address of the proxy that the environment defines for a URL; undefined if it defines none. */
export function proxyFinder(variables: ProxyVariables): (url: URL) => string | undefined {
  const named = (name: string): string => {
    const lower = variables[name.toLowerCase()] ?? "";
    return lower === "" ? (variables[name] ?? "") : lower;
  };
  const proxies = { "http:": named("HTTP_PROXY"), "https:": named("HTTPS_PROXY") };
  const direct = named("NO_PROXY")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .map(readEntry);
  return ({ protocol, hostname, port }) => {
    if (protocol !== "http:" && protocol !== "https:") return undefined;
    const proxy = proxies[protocol];
    if (proxy === "") return undefined;
    const ownPort = port === "" ? (protocol === "https:" ? "443" : "80") : port;
    const isDirect = direct.some((entry) => isOf(entry, hostname.replace(/^\[|\]$/g, ""), ownPort));
    return isDirect ? undefined : proxy;
  };
}

interface DirectHost {
  /** Also matches subdomains. `*`: every host. */
  host: string;
  port: string | undefined;
}

function readEntry(entry: string): DirectHost {
  const [, bracketed, plain = entry, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  return { host: bracketed ?? (plain === "*" ? plain : plain.replace(/^\*?\./, "")), port };
}

function isOf({ host, port }: DirectHost, hostname: string, ownPort: string): boolean {
  if (port !== undefined && port !== ownPort) return false;
  return host === "*" || hostname === host || hostname.endsWith(`.${host}`);
}
