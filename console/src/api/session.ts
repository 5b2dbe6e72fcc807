import { ApiError, request } from "./client.ts";
import type { Role, Session } from "./types.ts";

const SESSION = "/admin/v1/session";

export const sessionKey = ["session"] as const;

/** Those who may read what all users in their reach have spent; the others see their own. */
const readers: ReadonlySet<Role> = new Set(["owner", "billing", "auditor", "organisation_admin"]);

/** The session of this browser; null if nobody is signed in. */
export async function fetchSession(): Promise<Session | null> {
  try {
    return await request<Session>(SESSION);
  } catch (reason) {
    if (reason instanceof ApiError && reason.status === 401) return null;
    throw reason;
  }
}

/** A sign-in by OpenID Connect, which begins at its address. */
export interface SignInPlace {
  name: string;
  url: string;
}

export async function fetchSignIns(): Promise<readonly SignInPlace[]> {
  return (await request<{ data: SignInPlace[] }>("/admin/v1/sign_in")).data;
}

/** Signs in by a token, or by the code that a sandbox prints. The answer sets the cookie. */
export function signIn(proof: { token: string } | { code: string }): Promise<Session> {
  return request<Session>(SESSION, { method: "POST", body: proof });
}

/** Resolves with the address at which the browser signs out at its issuer too, if there is one. */
export async function signOut(): Promise<string | undefined> {
  const answer = await request<{ sign_out_url?: string | null }>(SESSION, { method: "DELETE" });
  return answer.sign_out_url ?? undefined;
}

/** Those who may see how the gateway itself is. */
const operators: ReadonlySet<Role> = new Set(["owner", "operator", "auditor"]);

export interface Reach {
  seesAll: boolean;
  isOperator: boolean;
  /** Where reports are read, and calls. */
  usage: string;
  generations: string;
}

/** Of everybody in the user's reach, or of the user alone. */
export function reachOf({ role }: Pick<Session, "role">): Reach {
  const seesAll = readers.has(role);
  const base = seesAll ? "/admin/v1" : "/v1";
  return { seesAll, isOperator: operators.has(role), usage: `${base}/usage`, generations: `${base}/generations` };
}

/** The session of this browser, asked for once. */
export const sessionQuery = { queryKey: sessionKey, queryFn: fetchSession, staleTime: "static" } as const;
