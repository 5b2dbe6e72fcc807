/** The addresses of a server's resources as one access to it shows them: by them, a set finds the server of a resource. */
import { type Clock, GatewayError, type JsonObject, stringOf } from "../../core/index.ts";
import { ServerError } from "../client/server-answer.ts";
import { matchesTemplate } from "./match-template.ts";

/** How long a list is taken for current; and one that lacks an address, or could not be read. */
const FRESH_MS = 60_000;
const RETRY_MS = 10_000;

/** The lists that have addresses, in the order in which they are looked at. */
export const addressLists = ["resources/list", "resources/templates/list"] as const;

export type AddressList = (typeof addressLists)[number];

interface Known {
  addresses: Promise<readonly string[]>;
  readAt: number;
}

export class KnownResources {
  readonly #clock: Clock;
  readonly #known = new Map<AddressList, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether the list has this address. One that lacks it is read again if it is not quite new. `read`: the items of the list, which other
   * callers may wait for too. A server that cannot be reached has none.
   */
  async has(list: AddressList, address: string, read: () => Promise<readonly JsonObject[]>): Promise<boolean> {
    const isIn = list === "resources/list" ? isSame : matchesOne;
    if (isIn(await this.#addresses(list, FRESH_MS, read), address)) return true;
    return isIn(await this.#addresses(list, RETRY_MS, read), address);
  }

  #addresses(list: AddressList, msMax: number, read: () => Promise<readonly JsonObject[]>): Promise<readonly string[]> {
    const now = this.#clock();
    const known = this.#known.get(list);
    const age = known === undefined ? Infinity : now - known.readAt;
    if (known !== undefined && age >= 0 && age < msMax) return known.addresses;
    const addresses = addressesOf(read);
    this.#known.set(list, { addresses, readAt: now });
    return addresses;
  }
}

async function addressesOf(read: () => Promise<readonly JsonObject[]>): Promise<string[]> {
  try {
    return (await read()).map((item) => stringOf(item["uri"] ?? item["uriTemplate"]));
  } catch (thrown) {
    if (!(thrown instanceof ServerError || thrown instanceof GatewayError)) throw thrown;
    return [];
  }
}

function isSame(addresses: readonly string[], address: string): boolean {
  return addresses.includes(address);
}

function matchesOne(templates: readonly string[], address: string): boolean {
  return templates.some((template) => template === address || matchesTemplate(template, address));
}
