/** Removes secrets from recordings. */

const removed = "removed";

/** Forms of secrets and of names of accounts, whoever they belong to. */
const patterns: readonly (readonly [RegExp, string])[] = [
  [/\b(sk|rk|pk|ek|tg|gsk|xai|pplx|fc)([-_])[A-Za-z0-9_-]{16,}/g, `$1$2${removed}`],
  [/\bAIza[A-Za-z0-9_-]{16,}/g, `AIza-${removed}`],
  [/\bBearer\s+[A-Za-z0-9._~+/-]{8,}=*/g, `Bearer ${removed}`],
  [/\b(org|proj|user|acct|ws)([-_])[A-Za-z0-9]{12,}/g, `$1$2${removed}`],
  // Members, in JSON or in JSON within a string.
  [
    /(\\?"(?:api_?key|authorization|password|secret|access_token|organization|workspace_id)\\?"\s*:\s*\\?")[^"\\]+/gi,
    `$1${removed}`,
  ],
  // Signatures of addresses that anybody may fetch.
  [
    /([?&](?:X-[A-Za-z]+-(?:Signature|Credential|Security-Token)|sig|signature|token|key)=)[^&"'\\\s]+/gi,
    `$1${removed}`,
  ],
  [/\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+\b/g, "somebody@example.com"],
];

/** Shorter keys are words such as `none`, which local servers are given. */
const SECRET_CHARACTERS_MIN = 8;

/**
 * Returns a function that removes these secrets, and everything that has the form of one. It throws if a secret is left, in plain
 * text or encoded: nothing must be written then.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= SECRET_CHARACTERS_MIN);
  const forms = known.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  ]);
  return (text) => {
    let cleaned = text;
    for (const form of forms) cleaned = cleaned.replaceAll(form, removed);
    for (const [pattern, replacement] of patterns) cleaned = cleaned.replace(pattern, replacement);
    if (forms.some((form) => cleaned.includes(form))) throw new Error("a secret could not be removed");
    return cleaned;
  };
}
