import { z } from "zod";

/** The authorization server takes the credentials no longer: the owner has to sign in again. */
export class GrantRefused extends Error {
  override name = "GrantRefused";
}

const client = z.object({
  id: z.string(),
  secret: z.string().optional(),
  method: z.enum(["client_secret_basic", "client_secret_post", "none"]),
});

/** The tokens that an authorization server has given for an account, as they are stored, encrypted. */
export const storedGrant = z.object({
  issuer: z.string(),
  resource: z.string(),
  client,
  access: z.string(),
  refresh: z.string().optional(),
  /** In milliseconds since the epoch. */
  expiresAt: z.number().optional(),
  scope: z.string().optional(),
  /** Scopes that the server has asked for since. */
  wanted: z.string().optional(),
});

export type OAuthGrant = z.output<typeof storedGrant>;

/** A sign-in that a browser has begun, as it is stored, encrypted, until the browser comes back. */
export const storedAttempt = z.object({
  verifier: z.string(),
  /** The hash of the cookie of the browser that has begun it. */
  browser: z.string(),
  /** Of the token with which its owner has begun it. */
  tokenId: z.string(),
  issuer: z.string(),
  resource: z.string(),
  client,
  scope: z.string().optional(),
});

export type SignInAttempt = z.output<typeof storedAttempt>;

/** A client that an authorization server has registered, as it is stored, encrypted. */
export const storedClient = client;
