import { type Browser, chromium } from "playwright-core";

export interface LaunchOptions {
  executable: string;
  sandbox: boolean;
  /** HOME and TMPDIR of the browser. */
  folder: string;
  path: string;
  /** The address of the proxy. */
  proxy: string;
}

/** How long the browser may take to start. */
const LAUNCH_MS_MAX = 30_000;

/** Mebibytes of a page's JavaScript heap. Beyond them the page crashes. */
const HEAP_MEBIBYTES_MAX = 768;

/**
 * Everything goes through the proxy: also requests to loopback, which a proxy setting bypasses by default; names are never
 * resolved by the browser; and neither QUIC nor WebRTC, which know no HTTP proxy, open sockets of their own.
 */
const networkFlags: readonly string[] = [
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--disable-quic",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--no-pings",
  "--disable-domain-reliability",
];

/**
 * A second `--disable-features` replaces the first, so this also has those that Playwright would switch off. The popups of the address bar
 * are pages of the browser's own that it prepares for every context: they took 0.8 of the 1.1 seconds of CPU of a small scrape.
 */
const disabledFeatures: readonly string[] = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxFullPopup",
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "SpareRendererForSitePerProcess",
  "Translate",
];

const otherFlags: readonly string[] = [
  `--disable-features=${disabledFeatures.join(",")}`,
  `--js-flags=--max-old-space-size=${HEAP_MEBIBYTES_MAX}`,
  "--disable-crash-reporter",
  "--disable-gpu",
  "--mute-audio",
];

/** Resolves with a browser that ends when the calling process does: they are connected by a pipe. */
export function launchChromium({ executable, sandbox, folder, path, proxy }: LaunchOptions): Promise<Browser> {
  return chromium.launch({
    executablePath: executable,
    chromiumSandbox: sandbox,
    proxy: { server: proxy, bypass: "<-loopback>" },
    args: [...networkFlags, ...otherFlags],
    env: { HOME: folder, TMPDIR: folder, PATH: path, LANG: "C.UTF-8" },
    downloadsPath: folder,
    artifactsDir: folder,
    timeout: LAUNCH_MS_MAX,
    // The child's own signals decide.
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
}
