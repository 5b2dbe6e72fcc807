/**
 * Results and definitions of other servers, before a client sees them. Text that people do not see (bidi marks, tags, escapes of
 * terminals) could give a model orders, and a server may repeat the credentials that it was called with.
 */
import { GatewayError, type JsonObject, objectOf } from "../core/index.ts";

/** Escapes of terminals; controls but tab and line ends; bidi marks; invisible marks and tags. */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are the characters that are removed
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Members that contain base64. */
const DATA = new Set(["data", "blob"]);

/** The levels of a result; more than any real one has. Deeper nesting would exhaust the stack of a recursive reader, ours or the client's. */
const DEPTH_MAX = 200;

/** Secrets shorter than this would be found by accident. */
const SECRET_CHARACTERS_MIN = 8;

/** The forms in which a server could repeat a secret. */
export function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < SECRET_CHARACTERS_MIN) continue;
    const bytes = Buffer.from(secret);
    forms.add(secret).add(encodeURIComponent(secret)).add(bytes.toString("hex"));
    forms.add(bytes.toString("base64").replace(/=+$/, "")).add(bytes.toString("base64url"));
  }
  return [...forms];
}

/** Names of variables with secrets. Values of others, such as folders, have to come back. */
const SECRET_NAME = /key|token|secret|passw|auth|credential|private|cookie|dsn/i;

/** The secrets among the variables of a program: by their names, and the passwords in addresses. */
export function secretsIn(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (SECRET_NAME.test(name)) return [value];
    const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i.exec(value) ?? [];
    return password === undefined ? [] : [value, password];
  });
}

/** A text without hidden characters and without the secrets. */
export function cleanText(text: string, secrets: readonly string[]): string {
  return withoutSecrets(text.replace(HIDDEN, ""), secrets);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (clean.includes(secret)) clean = clean.replaceAll(secret, "[secret]");
  return clean;
}

function cleanValue(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (typeof value === "string") return cleanText(value, secrets);
  if (depth > DEPTH_MAX) throw new GatewayError("upstream_invalid_answer", "The server's answer is nested too deeply.");
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, secrets, depth + 1));
  const object = objectOf(value);
  return object === undefined ? value : cleanObject(object, secrets, depth + 1);
}

/** The same for every text in an object; its keys too. Throws a 502 if it is nested too deeply. */
export function cleanObject(object: JsonObject, secrets: readonly string[], depth = 0): JsonObject {
  const entries = Object.entries(object).map(([key, member]): [string, unknown] => {
    const isData = DATA.has(key) && typeof member === "string" && /^[A-Za-z0-9+/=_-]*$/.test(member);
    return [cleanText(key, secrets), isData ? withoutSecrets(member, secrets) : cleanValue(member, secrets, depth)];
  });
  return Object.fromEntries(entries);
}
