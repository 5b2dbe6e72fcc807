import type { TokenRecord } from "./store.ts";

/** Who is calling, once a token has been accepted. */
export interface Principal {
  tokenId: string;
  user: string;
  accountId: string;
  service: boolean;
  admin: boolean;
  models: readonly string[] | undefined;
}

export function toPrincipal(token: TokenRecord): Principal {
  return {
    tokenId: token.id,
    user: token.user,
    accountId: token.accountId,
    service: token.service,
    admin: token.admin,
    models: token.models,
  };
}
