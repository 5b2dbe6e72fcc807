export interface DocumentAddresses {
  /** The service's address for callers. */
  publicUrl: string;
  /** A second address, plain HTTP. */
  betaUrl: string;
}

/** The document's `servers`. */
export function addressesOf({ publicUrl, betaUrl }: DocumentAddresses) {
  return [
    { url: publicUrl, description: "Production" },
    { url: betaUrl, description: "Beta, plain HTTP" },
  ];
}
