import { matchesGlob } from "../../core/index.ts";

/**
 * Where Chromium, Chrome and Edge look for updates, experiments and lists of their own, and send reports to. They are no part
 * of any page. Most of these requests are switched off, and the others carry no scrape's credentials.
 */
const browserHosts: readonly string[] = [
  "update.googleapis.com",
  "clients*.google.com",
  "clientservices.googleapis.com",
  "optimizationguide-pa.googleapis.com",
  "safebrowsing.googleapis.com",
  "safebrowsingohttpgateway.googleapis.com",
  "content-autofill.googleapis.com",
  "chromewebstore.googleapis.com",
  "*.gvt1.com",
  "*.gvt2.com",
  "edge.microsoft.com",
  "*.edge.microsoft.com",
  "msedge.api.cdp.microsoft.com",
  "*.data.microsoft.com",
];

export function isBrowserHost(host: string): boolean {
  return browserHosts.some((glob) => matchesGlob(glob, host));
}
