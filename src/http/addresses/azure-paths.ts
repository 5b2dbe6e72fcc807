/** The paths of OpenAI's clients for Azure, which differ from ours in nothing else (`docs/wire/azure.md`). */
import { withUrl } from "./derived-request.ts";
import type { MeantPath } from "./meant-path.ts";

const DEPLOYMENTS = "/openai/deployments/";

/** An id of a model has few slashes. */
const SLASHES_MAX = 6;

/**
 * The meanings that a path of Azure may have, the likeliest first; empty for any other path. A deployment is a model's id, whose slash may be
 * escaped or not.
 */
export function azurePaths(path: string): readonly MeantPath[] {
  if (path.startsWith(DEPLOYMENTS)) return deploymentPaths(path.slice(DEPLOYMENTS.length));
  const found = /^\/openai\/(?:v1\/)?(?=.)/.exec(path);
  return found === null ? [] : [{ path: `/v1/${path.slice(found[0].length)}` }];
}

function deploymentPaths(rest: string): MeantPath[] {
  const paths: MeantPath[] = [];
  for (let at = rest.indexOf("/"); at > 0 && paths.length <= SLASHES_MAX; at = rest.indexOf("/", at + 1)) {
    paths.push({ path: `/v1${rest.slice(at)}`, model: rest.slice(0, at) });
  }
  return paths;
}

/** The request without the version of the API: an upstream of a look-up gets the rest of its query. */
export function withoutAzureVersion(request: Request): Request {
  const isLookup = request.method === "GET" || request.method === "DELETE";
  // A handshake is not sent on, and no copy of it can become a WebSocket.
  if (!isLookup || request.headers.has("upgrade") || !request.url.includes("api-version=")) return request;
  const url = new URL(request.url);
  url.searchParams.delete("api-version");
  return withUrl(url.href, request);
}
