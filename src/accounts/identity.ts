/** Who an issuer's subject is: the user whose calls their signed tokens pay for. */
export interface Identity {
  /** The claims iss and sub. */
  issuer: string;
  subject: string;
  /** The id of the user. */
  user: string;
  /** The stored token that stands for the caller; undefined before the first call. */
  tokenId: string | undefined;
  createdAt: number;
}
