/** What a browser says about itself beside its user agent, in `navigator.userAgentData` and the headers `sec-ch-ua-*`. */
export interface ClientHints {
  brands: { brand: string; version: string }[];
  fullVersion: string;
  platform: string;
  platformVersion: string;
  architecture: string;
  model: string;
  mobile: boolean;
}

/** Those that fit the user agents of scrapes; `version` is the browser's own. */
export function clientHints(version: string, isMobile = false): ClientHints {
  const [major = ""] = version.split(".");
  const shared = { brands: [{ brand: "Chromium", version: major }], fullVersion: version, mobile: isMobile };
  return isMobile
    ? { ...shared, platform: "Android", platformVersion: "14", architecture: "", model: "Pixel 7" }
    : { ...shared, platform: "Linux", platformVersion: "", architecture: "x86", model: "" };
}
