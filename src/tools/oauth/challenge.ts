/** The most characters of a challenge that are read. */
const CHALLENGE_CHARACTERS_MAX = 8_192;

/** Parameters of a challenge by bearer (RFC 6750), in any order. */
export function challengeParameters(challenge: string | null): ReadonlyMap<string, string> {
  const bearer = /(?:^|,\s*)Bearer\s+(.*)$/is.exec(challenge?.slice(0, CHALLENGE_CHARACTERS_MAX) ?? "")?.[1] ?? "";
  const found = bearer.matchAll(/(?<![a-z_])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi);
  return new Map([...found].map(([, key = "", quoted, plain = ""]) => [key.toLowerCase(), quoted ?? plain]));
}

/** The scopes of both texts. */
export function joinedScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const all = new Set(scopes.flatMap((scope) => (scope ?? "").split(" ")).filter((each) => each !== ""));
  return all.size === 0 ? undefined : [...all].join(" ");
}
