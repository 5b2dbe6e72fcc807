import { isObject, type JsonObject, parseJson } from "../json.ts";

const prefix = "ek_sim_";

/** A client secret, which contains its session. */
export function secretOf(session: JsonObject): string {
  return prefix + Buffer.from(JSON.stringify(session)).toString("base64url");
}

/** The session of a client secret; undefined for another key. */
export function readSecret(key: string): JsonObject | undefined {
  if (!key.startsWith(prefix)) return undefined;
  const session = parseJson(Buffer.from(key.slice(prefix.length), "base64url").toString("utf8"));
  return isObject(session) ? session : undefined;
}
