export interface DocumentAddresses {
  /** The service's address for callers. */
  publicUrl: string;
  /** A second address, plain HTTP; undefined if there is none. */
  betaUrl: string | undefined;
}

/** The document's `servers`. */
export function addressesOf({ publicUrl, betaUrl }: DocumentAddresses) {
  const production = { url: publicUrl, description: "Production" };
  return betaUrl === undefined ? [production] : [production, { url: betaUrl, description: "Beta, plain HTTP" }];
}
