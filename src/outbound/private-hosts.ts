import { matchesGlob } from "../core/index.ts";

/**
 * Whether a URL's host, or `host:port`, matches an entry of `web.allow_private_hosts`. An entry that is written like an IPv4
 * address, such as `10.0.*`, matches addresses only: otherwise the name 10.0.example.com, which anyone can register,
 * would match and could resolve to any address.
 */
export function isAllowedHost(entries: readonly string[], { host, port }: { host: string; port: number }): boolean {
  return entries.some((entry) => {
    const glob = entry.toLowerCase();
    if (isAddressGlob(glob) && !isIpv4(host)) return false;
    return matchesGlob(glob, host) || matchesGlob(glob, `${host}:${port}`);
  });
}

const isAddressGlob = (glob: string): boolean => /^[\d.*]*\d[\d.*]*(:[\d*]+)?$/.test(glob);

/** Of a host as the URL parser returns it, which is normalised. */
const isIpv4 = (host: string): boolean => /^\d+\.\d+\.\d+\.\d+$/.test(host);
