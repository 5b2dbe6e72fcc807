/** The gateway's registrations as a client at the authorization servers of one server of tools, which all nodes share. */
import type { Clock } from "../../core/index.ts";
import { SecretError } from "../../storage/index.ts";
import type { Connections } from "../connections/connections.ts";
import type { ClientPlace } from "../connections/sql/open.ts";
import { storedClient } from "./grant.ts";
import type { OAuthClient } from "./registration.ts";

export interface ClientRegistrations {
  find(issuer: string): Promise<OAuthClient | undefined>;
  /** Leaves the one that there is. */
  keep(issuer: string, client: OAuthClient): Promise<void>;
  forget(issuer: string): Promise<void>;
}

export function registrationsAt(
  connections: Connections,
  at: Pick<ClientPlace, "server" | "redirect">,
  clock: Clock,
): ClientRegistrations {
  const { clients } = connections.store;
  const boundTo = (issuer: string): string => `client/${at.server}/${issuer}`;
  return {
    async find(issuer) {
      const sealed = await clients.find({ ...at, issuer });
      if (sealed === undefined) return undefined;
      try {
        return storedClient.parse(JSON.parse(connections.unseal(sealed, boundTo(issuer))));
      } catch (thrown) {
        // Of another key: the gateway registers again.
        if (!(thrown instanceof SecretError)) throw thrown;
        await clients.forget({ ...at, issuer });
        return undefined;
      }
    },
    keep: (issuer, client) =>
      clients.keep(
        { ...at, issuer },
        { sealed: connections.seal(JSON.stringify(client), boundTo(issuer)), at: clock() },
      ),
    forget: (issuer) => clients.forget({ ...at, issuer }),
  };
}
