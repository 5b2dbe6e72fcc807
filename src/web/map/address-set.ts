import type { SiteLink } from "../engine.ts";

/** The hosts that belong to a site. */
interface SiteScope {
  /** The host names that belong to it; `www.` makes no difference. */
  hosts: ReadonlySet<string>;
  includesSubdomains: boolean;
}

export function bareHost(hostname: string): string {
  return hostname.replace(/^www\./, "");
}

function isInScope({ hosts, includesSubdomains }: SiteScope, hostname: string): boolean {
  const host = bareHost(hostname);
  if (hosts.has(host)) return true;
  return includesSubdomains && [...hosts].some((each) => host.endsWith(`.${each}`));
}

interface AddressSetOptions {
  scope: SiteScope;
  ignoresQuery: boolean;
  countMax: number;
}

/** The addresses of a site, in the order in which they were found. Fragments and a last slash make no difference. */
export class AddressSet {
  readonly #options: AddressSetOptions;
  readonly #links = new Map<string, SiteLink>();

  constructor(options: AddressSetOptions) {
    this.#options = options;
  }

  get links(): SiteLink[] {
    return [...this.#links.values()];
  }

  /**
   * Adds an absolute address of the site; ignores any other. A later title completes an earlier entry. Returns false if there is
   * no room for the address.
   */
  add(address: string, { title, description }: Omit<SiteLink, "url"> = {}): boolean {
    const url = URL.parse(address);
    if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return true;
    if (!isInScope(this.#options.scope, url.hostname)) return true;
    url.hash = "";
    if (this.#options.ignoresQuery) url.search = "";
    const key = keyOf(url);
    const known = this.#links.get(key);
    if (known === undefined && this.#links.size >= this.#options.countMax) return false;
    const all = { title: title ?? known?.title, description: description ?? known?.description };
    this.#links.set(key, {
      url: known?.url ?? url.href,
      ...(all.title !== undefined && { title: all.title }),
      ...(all.description !== undefined && { description: all.description }),
    });
    return true;
  }
}

/** http and https, www and none, and a last slash are one address. */
function keyOf({ host, pathname, search }: URL): string {
  return `${bareHost(host)}${pathname.replace(/\/$/, "")}${search}`;
}
