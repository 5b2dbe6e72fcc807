import * as oauth from "openid-client";
import type { OAuthClient } from "./registration.ts";

/** How a client proves itself at the token endpoint. */
export function proofOf({ id, secret, method }: OAuthClient): oauth.ClientAuth {
  if (method === "none" || secret === undefined) return oauth.None();
  return method === "client_secret_post" ? oauth.ClientSecretPost(secret) : basicProof(id, secret);
}

/**
 * HTTP Basic authentication, with as few characters encoded as forms permit (RFC 6749, section 2.3.1): many servers decode none, and
 * would not know the hyphen of a client's id.
 */
function basicProof(id: string, secret: string): oauth.ClientAuth {
  const value = `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString("base64")}`;
  return (_server, _client, _body, headers) => headers.set("authorization", value);
}

function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}
