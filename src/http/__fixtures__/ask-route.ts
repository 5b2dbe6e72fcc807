import type { Principal } from "../../auth/index.ts";
import type { HttpRoute } from "../route.ts";

/** The default caller. */
const alice: Principal = {
  tokenId: "a1",
  user: "alice",
  accountId: "token:a1",
  service: false,
  role: "member",
  models: undefined,
  rates: undefined,
  expiresAt: undefined,
};

export interface Question {
  /** Appended to the route's path. */
  query?: string;
  parameters?: Record<string, string>;
  principal?: Partial<Principal>;
}

/** The body of a route's answer; rejects with the route's exception. */
export async function askRoute<Needs>(
  route: HttpRoute<Needs, "token"> | HttpRoute<Needs, "roles">,
  services: Needs,
  { query = "", parameters = {}, principal }: Question = {},
) {
  const call = {
    request: new Request(`http://gateway${route.path}${query}`),
    requestId: "req_x",
    principal: { ...alice, ...principal },
    pathParameter: (name: string) => parameters[name] ?? "",
  };
  const answer = await route.handle(call, services);
  const body: unknown = await answer.json();
  return body;
}
