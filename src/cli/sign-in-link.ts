import { issueSignInCode } from "../accounts/index.ts";
import { createAccounts } from "../app/accounts.ts";
import { type Environment, isLoopbackName } from "../core/index.ts";
import type { Storage } from "../storage/index.ts";

/** How long the link of a start signs in. */
const LINK_MS = 15 * 60_000;

/**
 * The address at which a browser of this machine signs in to a sandbox as its owner, once. The code is in the fragment, which browsers
 * send to nobody. Undefined if the server can't be reached by a loopback address, or has no owner with a token.
 */
export async function signInLink(storage: Storage, environment: Environment, url: string): Promise<string | undefined> {
  const page = new URL("/console/sign-in", url);
  if (page.hostname === "0.0.0.0" || page.hostname === "[::]") page.hostname = "127.0.0.1";
  if (!isLoopbackName(page.hostname)) return undefined;
  const code = await issueSignInCode(createAccounts(storage, environment, "sandbox"), LINK_MS);
  if (code === undefined) return undefined;
  page.hash = code;
  return page.href;
}
