import { GatewayError } from "../../core/index.ts";
import { pageHeaders } from "../page-headers.ts";
import type { HttpRoute } from "../route.ts";
import { hasVersion, takesCoding } from "../static/negotiation.ts";
import { assetOf, type Coding, consoleFile, pageTag, scriptsOf } from "./console-files.ts";

/** The console loads its own files and asks its own gateway; it has no inline script or style. */
const headers = {
  ...pageHeaders({
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data: blob:",
    "media-src": "'self' data: blob:",
    "connect-src": "'self'",
  }),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  vary: "accept-encoding",
};

/** The name of an asset changes with its content. */
const FOR_GOOD = "public, max-age=31536000, immutable";

interface SentFile {
  path: string;
  type: string;
  etag: string;
  caching: string;
  more?: Readonly<Record<string, string>>;
}

async function send(request: Request, { path, type, etag, caching, more }: SentFile): Promise<Response> {
  const own = { ...headers, ...more, "content-type": type, etag, "cache-control": caching };
  if (hasVersion(request, etag)) return new Response(null, { status: 304, headers: own });
  const coding = (["br", "gzip"] satisfies Coding[]).find((each) => takesCoding(request, each));
  const bytes = await consoleFile(path, coding);
  if (bytes === undefined) throw noSuchFile();
  return new Response(bytes, {
    headers: { ...own, ...(coding !== undefined && { "content-encoding": coding }) },
  });
}

const FIRST_PAGE = "overview";
const SIGN_IN = "sign-in";

/** What the page asks for first: browsers get it while they still read the entry. */
async function linksOf(page: string): Promise<string> {
  const scripts = (await scriptsOf(page)).map((path) => `</console/${path}>; rel=modulepreload`);
  const session = page === SIGN_IN ? [] : ["</admin/v1/session>; rel=preload; as=fetch; crossorigin"];
  return [...session, ...scripts].join(", ");
}

/** The page of the application, which shows each path of its own. */
async function sendPage(request: Request, path: string): Promise<Response> {
  const etag = await pageTag();
  if (etag === undefined) throw noSuchFile();
  const more = { link: await linksOf(path) };
  return send(request, { path: "index.html", type: "text/html; charset=utf-8", etag, caching: "no-cache", more });
}

function noSuchFile(): GatewayError {
  return new GatewayError("route_not_found", "There is no such file of the console. It begins at /console.");
}

type ConsoleRoute = HttpRoute<object, "public">;
const page = { kind: "http", method: "get", surface: "openai", access: "public" } as const;

/** The console's first page. It is public: it has no data of its own, and asks the API for all that it shows. */
export const consoleRoute: ConsoleRoute = {
  ...page,
  path: "/console",
  handle: ({ request }) => sendPage(request, FIRST_PAGE),
};

/** The pages below it, and the assets. */
export const consolePagesRoute: ConsoleRoute = {
  ...page,
  path: "/console/{page}",
  takesSlashes: true,
  handle: ({ request, pathParameter }) => {
    const path = pathParameter("page");
    if (!path.startsWith("assets/")) return sendPage(request, path);
    const asset = assetOf(path);
    if (asset === undefined) throw noSuchFile();
    return send(request, { path, ...asset, caching: FOR_GOOD });
  },
};
