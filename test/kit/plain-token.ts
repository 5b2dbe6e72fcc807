import type { FoundToken, TokenRecord } from "../../src/auth/index.ts";

/** A stored token of a member, without limits. */
export const plainToken: TokenRecord = {
  id: "abc",
  secretHash: Uint8Array.of(1),
  user: "alice",
  accountId: "token:abc",
  service: false,
  role: undefined,
  name: undefined,
  models: undefined,
  rpm: undefined,
  tpm: undefined,
  concurrency: undefined,
  expiresAt: undefined,
  revokedAt: undefined,
  createdAt: 0,
  pausedAt: undefined,
  previousHash: undefined,
  previousUntil: undefined,
  madeBy: undefined,
  version: 1,
};

/** The same, as it is found with its user. */
export const plainFound: FoundToken = {
  ...plainToken,
  userName: "alice",
  userRole: "member",
  userDisabledAt: undefined,
  organisation: undefined,
  organisationDisabledAt: undefined,
  markup: undefined,
};
