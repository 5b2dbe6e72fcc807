/** An authorization server (`oidc-provider`) for a server of tools, with people who permit everything. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";

export interface AuthorizationServer {
  issuer: string;
  /** Who has a session there. */
  person: string;
  /** The requests to its token endpoint, by their grant types. */
  grants: string[];
  /** The error with which it refuses to renew tokens. */
  refuses: string | undefined;
  /** Whose access token it is; undefined if it is none, or was withdrawn. */
  ownerOf(token: string): Promise<string | undefined>;
  /** All access tokens are withdrawn. */
  withdraw(): void;
  /** The tokens that were revoked. */
  revoked: string[];
  stop(): void;
}

const parameterIn = ({ oidc }: Record<string, unknown>, name: string): string =>
  String((oidc as { params?: Record<string, unknown> } | undefined)?.params?.[name]);

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  let provider: Provider;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.url?.startsWith("/interaction/") !== true) return provider.callback()(request, response);
    const login = { login: { accountId: own.person }, consent: {} };
    await provider.interactionFinished(request, response, login, { mergeWithLastSubmission: false });
  };
  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const withdrawn = new Set<string>();
  const seen = new Set<string>();
  provider = new Provider(issuer, {
    cookies: { keys: ["of the test"] },
    scopes: ["tools", "more"],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, audience) => ({
          audience,
          scope: "tools more",
          accessTokenFormat: "opaque",
          accessTokenTTL: 3_600,
        }),
        useGrantedResource: () => true,
      },
    },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    clientBasedCORS: () => false,
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId, clientId: oidc.client?.clientId });
      grant.addOIDCScope("openid offline_access tools more");
      for (const resource of [oidc.params?.["resource"]].flat()) grant.addResourceScope(String(resource), "tools more");
      await grant.save();
      return grant;
    },
  });
  provider.use(async (context, next) => {
    const { path } = context;
    if (path === "/token" && own.refuses !== undefined) {
      context.status = 400;
      context.body = { error: own.refuses };
      return;
    }
    await next();
    if (path === "/token") own.grants.push(parameterIn(context, "grant_type"));
    if (path === "/token/revocation") own.revoked.push(parameterIn(context, "token"));
  });
  const own: AuthorizationServer = {
    issuer,
    person: "ann",
    grants: [],
    refuses: undefined,
    revoked: [],
    async ownerOf(token) {
      seen.add(token);
      if (withdrawn.has(token)) return undefined;
      return (await provider.AccessToken.find(token))?.accountId;
    },
    withdraw: () => {
      for (const token of seen) withdrawn.add(token);
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return own;
}
