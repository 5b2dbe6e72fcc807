/** Sources by directive, besides those that no page of the gateway needs. */
type Sources = Readonly<Partial<Record<"style-src" | "script-src" | "connect-src" | "img-src" | "media-src", string>>>;

/**
 * The headers of a page of the gateway: only these sources are permitted, and nobody may frame it. `formTarget`: the place that its forms are sent to.
 * Such a page names itself to its own gateway, since browsers send no `Origin` with the form of a page that hides its address.
 */
export function pageHeaders(sources: Sources, formTarget: "'none'" | "'self'" = "'none'"): Record<string, string> {
  const permitted = Object.entries(sources).map(([directive, source]) => `${directive} ${source}`);
  const policy = [
    "default-src 'none'",
    ...permitted,
    "base-uri 'none'",
    `form-action ${formTarget}`,
    "frame-ancestors 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "referrer-policy": formTarget === "'none'" ? "no-referrer" : "same-origin",
    "x-content-type-options": "nosniff",
  };
}
