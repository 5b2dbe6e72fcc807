import type { CallSignal } from "../core/index.ts";

/** In CSS pixels. */
export interface Viewport {
  width: number;
  height: number;
}

export interface ScreenshotSettings {
  /** The whole page instead of the viewport. */
  fullPage?: boolean | undefined;
  /** 1 to 100: a JPEG of that quality. Without it, a PNG. */
  quality?: number | undefined;
  viewport?: Viewport | undefined;
}

type PdfFormat = "A0" | "A1" | "A2" | "A3" | "A4" | "A5" | "A6" | "Letter" | "Legal" | "Tabloid" | "Ledger";

/** The actions of Firecrawl's API, in its names. They run one after the other. */
export type PageAction =
  | { type: "wait"; milliseconds: number }
  /** Until the element is visible. */
  | { type: "wait"; selector: string }
  | ({ type: "screenshot" } & ScreenshotSettings)
  /** `all`: every element that matches, which may be none. */
  | { type: "click"; selector: string; all?: boolean | undefined }
  /** Types into the element that has the focus. */
  | { type: "write"; text: string }
  | { type: "press"; key: string }
  | { type: "scroll"; direction?: "up" | "down" | undefined; selector?: string | undefined }
  | { type: "scrape" }
  | { type: "executeJavascript"; script: string }
  | {
      type: "pdf";
      format?: PdfFormat | undefined;
      landscape?: boolean | undefined;
      scale?: number | undefined;
    };

export interface Location {
  /** ISO 3166-1 alpha-2, such as `DE`: its time zone, and its language unless `languages` are given. */
  country?: string | undefined;
  /** BCP 47, the preferred one first. */
  languages?: readonly string[] | undefined;
}

/** The request to the child process. */
export interface ChildPageRequest {
  url: string;
  /** Sent with requests to the URL's own origin only. `host` and the headers of a connection are ignored. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** For the whole scrape, its wait for a free page included. */
  timeoutMs: number;
  /** Waited before the actions, after the page has loaded. */
  waitForMs?: number | undefined;
  /** A phone's viewport, touch and user agent. */
  mobile?: boolean | undefined;
  actions?: readonly PageAction[] | undefined;
  /** Taken at the end. */
  screenshot?: ScreenshotSettings | undefined;
  location?: Location | undefined;
  /** Refuses the best known hosts of advertisements, trackers and consent banners. */
  blockAds?: boolean | undefined;
}

export interface RenderRequest extends ChildPageRequest {
  /** The user who asks for it. */
  owner: string;
  signal?: CallSignal | undefined;
}

export interface Screenshot {
  type: "image/png" | "image/jpeg";
  bytes: Uint8Array;
}

export interface ActionResults {
  screenshots: Screenshot[];
  /** HTML in UTF-8. */
  scrapes: { url: string; html: Uint8Array }[];
  /** `type` as of `typeof`; `value` is JSON. */
  javascriptReturns: { type: string; value: unknown }[];
  pdfs: Uint8Array[];
}

export interface RenderedPage {
  /** After all redirects and navigations. */
  url: string;
  status: number;
  /** In lower case; several of a name are joined as by `fetch`. */
  headers: Record<string, string>;
  contentType: string | undefined;
  /** The document as it is at the end, in UTF-8, whatever its charset was. */
  html: Uint8Array;
  screenshot?: Screenshot;
  /** Present if the request has actions. */
  actions?: ActionResults;
  /** The missing parts, for the caller. */
  warning?: string;
}
