import { GatewayError } from "../../core/index.ts";
import { pageHeaders } from "../page-headers.ts";
import type { HttpRoute } from "../route.ts";
import { hasVersion, takesCoding } from "../static/negotiation.ts";
import { documentationFile } from "./documentation-files.ts";

const headers = {
  ...pageHeaders({ "style-src": "'self'", "script-src": "'self'", "connect-src": "'self'" }),
  // The pages change with the gateway's version: a browser asks whether it still has the same one.
  "cache-control": "no-cache",
  vary: "accept-encoding",
};

async function answer(request: Request, path: string): Promise<Response> {
  const file = await documentationFile(path);
  if (file === undefined) {
    throw new GatewayError(
      "route_not_found",
      "There is no such page of the documentation. All of them are listed at /docs.",
    );
  }
  const { type, bytes, gzipped, etag } = file;
  const own = { ...headers, "content-type": type, etag };
  if (hasVersion(request, etag)) return new Response(null, { status: 304, headers: own });
  if (!takesCoding(request, "gzip")) return new Response(bytes, { headers: own });
  return new Response(gzipped, { headers: { ...own, "content-encoding": "gzip" } });
}

type PageRoute = HttpRoute<object, "public">;
const page = { kind: "http", method: "get", surface: "openai", access: "public" } as const;

/** The table of contents of the documentation. It is public, as what it describes is. */
export const contentsRoute: PageRoute = {
  ...page,
  path: "/docs",
  handle: ({ request }) => answer(request, "index"),
};

/** The pages below it: guides, operations by tag, and their assets. */
export const pagesRoute: PageRoute = {
  ...page,
  path: "/docs/{page}",
  takesSlashes: true,
  handle: ({ request, pathParameter }) => answer(request, pathParameter("page")),
};
