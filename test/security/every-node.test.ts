/** The end of a token applies on every node within a second, whichever node or command caused it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { codeOf, type Gateway, startGateway, until } from "../kit/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const providers = { openai: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "k" } };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function answers(nodes: readonly Gateway[], token: string): Promise<string[]> {
  const asked = nodes.map(async ({ url }) =>
    codeOf(await fetch(`${url}/v1/user/info`, { headers: { authorization: `Bearer ${token}` } })),
  );
  return Promise.all(asked);
}

/** Waits until every node gives this answer. */
async function untilAll(nodes: readonly Gateway[], token: string, answer: string, timeout: number): Promise<void> {
  const isThere = async (): Promise<boolean> => (await answers(nodes, token)).every((each) => each === answer);
  await until(`every node answers ${answer}`, isThere, timeout);
}

describe("two nodes on one storage", () => {
  let first: Gateway;
  let nodes: Gateway[];
  beforeAll(async () => {
    const storage = await server.createDatabase();
    first = await startGateway({ providers, storage });
    nodes = [first, await startGateway({ providers, storage })];
  });
  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  test("a revoked token is refused by both within a second, and its neighbour by none", async () => {
    const [leaver, stayer] = [await first.token(), await first.token()];
    expect(await answers(nodes, leaver)).toEqual(["status 200", "status 200"]);
    expect(await answers(nodes, stayer)).toEqual(["status 200", "status 200"]);
    const { code } = await first.cli("token", "revoke", leaver.slice(3, 15));
    expect(code).toBe(0);
    await untilAll(nodes, leaver, "token_revoked", 1_000);
    expect(await answers(nodes, stayer)).toEqual(["status 200", "status 200"]);
  });

  describe("a browser's session", () => {
    const browser = async ({ url }: Gateway) => {
      const { port } = new URL(url);
      const answer = await fetch(`${url}/admin/v1/session`, {
        method: "POST",
        headers: { origin: url },
        body: JSON.stringify({ token: await first.token({ user: "surfer" }) }),
      });
      expect(answer.status).toBe(200);
      const [cookie = ""] = answer.headers.getSetCookie();
      expect(cookie).toStartWith(`tollgate-session-${port}=`);
      const value = cookie.slice(0, cookie.indexOf(";")).slice(cookie.indexOf("=") + 1);
      // On loopback the name has the port of the node.
      return (node: Gateway) => `tollgate-session-${new URL(node.url).port}=${value}`;
    };
    const outcome = (node: Gateway, path: string, init: RequestInit) => fetch(node.url + path, init).then(codeOf);

    test("that signs out is refused by both within a second", async () => {
      const cookieAt = await browser(first);
      const states = () =>
        Promise.all(nodes.map((node) => outcome(node, "/v1/user/info", { headers: { cookie: cookieAt(node) } })));
      expect(await states()).toEqual(["status 200", "status 200"]);
      const out = { method: "DELETE", headers: { cookie: cookieAt(first), origin: first.url } };
      expect(await outcome(first, "/admin/v1/session", out)).toBe("status 200");
      const isOut = async (): Promise<boolean> => (await states()).every((state) => state === "signed_out");
      await until("both nodes refuse it", isOut, 1_000);
    });

    test("counts at the APIs alone, and opens no WebSocket to a page of another origin", async () => {
      const cookieAt = await browser(first);
      const cookie = cookieAt(first);
      for (const path of ["/v1/user/info", "/v1/models", "/admin/v1/session", "/v2/team/credit-usage"])
        expect([path, await outcome(first, path, { headers: { cookie } })]).toEqual([path, "status 200"]);
      for (const path of ["/v1beta/models", "/models", "/mcp", "/v1x/models"])
        expect([path, await outcome(first, path, { headers: { cookie } })]).not.toEqual([path, "status 200"]);
      const upgrade = {
        cookie,
        connection: "upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "x3JJHMbDL1EzLkh9GBhXDw==",
      };
      for (const path of ["/v1/realtime?model=openai/gpt-realtime", "/v1/responses"])
        for (const origin of ["https://evil.example", undefined])
          expect([
            path,
            await outcome(first, path, { headers: { ...upgrade, ...(origin !== undefined && { origin }) } }),
          ]).toEqual([path, "cross_site"]);
      // No secret of a browser is in the log.
      expect(first.log()).not.toContain(cookie.split("=")[1] ?? "");
    });
  });

  test("a token that expires is refused by both from then on", async () => {
    const lifetime = 1_500;
    const guest = await first.token({ expiresInMs: lifetime });
    expect(await answers(nodes, guest)).toEqual(["status 200", "status 200"]);
    await untilAll(nodes, guest, "token_expired", lifetime + 1_000);
  });
});
