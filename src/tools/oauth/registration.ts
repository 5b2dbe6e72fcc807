/** The gateway as a client of an authorization server: known by the operator's settings, by the address of its metadata, or registered. */
import { type JsonObject, listOf, stringOf } from "../../core/index.ts";
import { objectIn } from "./discovery.ts";
import { guardedFetch, type GuardedOutbound } from "./guarded-fetch.ts";

export interface OAuthClient {
  id: string;
  secret?: string | undefined;
  method: ClientMethod;
}

export type ClientMethod = "client_secret_basic" | "client_secret_post" | "none";

const methods: readonly ClientMethod[] = ["client_secret_basic", "client_secret_post", "none"];

/** The gateway describes itself there as a client (Client ID Metadata Documents). */
export const CLIENT_METADATA_PATH = "/client-metadata.json";

/** The metadata that authorization servers read at the gateway. `publicUrl` has no slash at its end. */
export function clientMetadata(publicUrl: string): JsonObject & { redirect_uris: string[] } {
  return {
    client_id: publicUrl + CLIENT_METADATA_PATH,
    client_name: "Tollgate",
    client_uri: publicUrl,
    redirect_uris: [redirectUri(publicUrl)],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: "web",
  };
}

/** The address that browsers come back to. */
export function redirectUri(publicUrl: string): string {
  return `${publicUrl}/console/connections/callback`;
}

/** How a client proves itself: as the authorization server supports it, which is by the header if it names nothing. */
export function clientMethod(metadata: JsonObject, hasSecret: boolean): ClientMethod {
  if (!hasSecret) return "none";
  const supported = listOf(metadata["token_endpoint_auth_methods_supported"]);
  if (supported === undefined || supported.includes("client_secret_basic")) return "client_secret_basic";
  return "client_secret_post";
}

/** Whether the authorization server takes the address of the metadata as the client's id, which it reads over https. */
export function takesMetadataAddress(metadata: JsonObject, publicUrl: string): boolean {
  return metadata["client_id_metadata_document_supported"] === true && publicUrl.startsWith("https:");
}

interface Registering {
  outbound: GuardedOutbound;
  metadata: JsonObject;
  publicUrl: string;
  scope: string | undefined;
}

/** Registers the gateway (RFC 7591). Throws if the authorization server does not. */
export async function register({ outbound, metadata, publicUrl, scope }: Registering): Promise<OAuthClient> {
  const endpoint = stringOf(metadata["registration_endpoint"]);
  if (endpoint === "") throw new Error("its authorization server registers no clients: set client_id");
  const supported = listOf(metadata["token_endpoint_auth_methods_supported"]);
  const wanted = methods.find((each) => supported?.includes(each)) ?? "client_secret_basic";
  const { client_id: _id, ...own } = clientMetadata(publicUrl);
  const answer = await guardedFetch(outbound, endpoint, {
    method: "POST",
    headers: new Headers({ "content-type": "application/json", accept: "application/json" }),
    body: JSON.stringify({ ...own, token_endpoint_auth_method: wanted, ...(scope !== undefined && { scope }) }),
  });
  if (!answer.ok)
    throw new Error(`its authorization server refuses the registration of a client with ${answer.status}`);
  const registered = objectIn(await answer.text());
  const id = stringOf(registered["client_id"]);
  if (id === "") throw new Error("its authorization server registers a client without an id");
  const secret = stringOf(registered["client_secret"]) || undefined;
  const given = methods.find((each) => each === registered["token_endpoint_auth_method"]) ?? wanted;
  return { id, secret, method: secret === undefined ? "none" : given };
}
