export type JsonAnswer = Record<string, unknown>;

/** Sends JSON to a gateway with a token. */
export async function askAs(
  url: string,
  token: string,
  { method = "GET", path, body }: { method?: string; path: string; body?: JsonAnswer },
): Promise<{ status: number; json: JsonAnswer }> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as JsonAnswer };
}

/** A configuration in which users' credentials are encrypted. */
export const withKey = { webhooks: { encryption_key: "a key of more than thirty-two characters" } };
