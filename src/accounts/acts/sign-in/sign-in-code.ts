/** Codes that sign in once, as a sandbox prints them. */
import { deleteSignInCode, hashOf, insertSignInCode, signInCodes } from "../../../auth/index.ts";
import { GatewayError } from "../../../core/index.ts";
import { firstOf } from "../../../storage/index.ts";
import type { AccountsDependencies } from "../../dependencies.ts";
import { findOwnersToken } from "../../sql/tokens.ts";

const CODE_BYTES = 32;

/** Text of a code: 32 random bytes. */
const SHAPE = /^[\w-]{43}$/;

/**
 * A code that begins a session of an owner within so many milliseconds, with one of their tokens that can be used; undefined if there is no
 * such token. Its hash alone is stored.
 */
export function issueSignInCode(deps: AccountsDependencies, msMax: number): Promise<string | undefined> {
  const { clock, randomBytes } = deps.environment;
  return deps.log.act({ actor: deps.caller.actor }, function* (note) {
    const at = clock();
    const token = yield* findOwnersToken();
    if (token === undefined) return undefined;
    const code = Buffer.from(randomBytes(CODE_BYTES)).toString("base64url");
    const expiresAt = at + msMax;
    yield insertSignInCode(hashOf(code), { tokenId: token.id, expiresAt });
    note({ act: "sign_in_code.create", target: `user:${token.user}`, after: { token_id: token.id } });
    return code;
  });
}

/** The id of the token that the code's session begins with. The code is used up. Rejects with a `GatewayError` (401). */
export async function takeSignInCode(deps: AccountsDependencies, code: string): Promise<string> {
  const at = deps.environment.clock();
  const found = SHAPE.test(code)
    ? await deps.log.act({ actor: deps.caller.actor }, () => firstOf(deleteSignInCode(hashOf(code)), signInCodes.read))
    : undefined;
  if (found !== undefined && found.expiresAt > at) return found.tokenId;
  throw new GatewayError(
    "invalid_token",
    "The code is not valid: it can be used once, within 15 minutes of the start.",
  );
}
