import { endUserHeaders } from "./end-user.ts";
import { sessionHeaders } from "./session-headers.ts";
import { tagHeaderNames } from "./tag-headers.ts";

const names = [...sessionHeaders, ...endUserHeaders, ...tagHeaderNames];

/** Those headers that name a session, an end user or tags, for requests that are made on behalf of this one. */
export function namingHeaders(headers: Pick<Headers, "get">): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) found[name] = value;
  }
  return found;
}
