/** Paths and hosts that a server and a proxy before it may read differently. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Gateway, startGateway } from "../kit/index.ts";
import { openRaw, type RawAnswer } from "../kit/raw.ts";

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ providers: {} });
});
afterAll(() => gateway.stop());

/** The answer to a request whose path and headers are sent as they are. */
async function ask(path: string, headers: readonly string[] = ["host: gateway"]): Promise<RawAnswer | undefined> {
  const { socket, answer } = await openRaw(gateway.url);
  try {
    socket.write([`GET ${path} HTTP/1.1`, ...headers, "connection: close", "", ""].join("\r\n"));
    return await answer();
  } finally {
    socket.destroy();
  }
}

/** Each leads to the path with the token, from below one without. */
const detours = (path: string): string[] => [
  `/health/..${path}`,
  `/health/%2e%2e${path}`,
  `/health/%2E.${path}`,
  `/health\\..${path.replaceAll("/", "\\")}`,
  `/openapi.json/../.${path}`,
];

test.each(detours("/v1/user/info"))("%s needs a token, as the path that it means", async (path) => {
  expect(await ask(path)).toMatchObject({ status: 401 });
  const token = await gateway.token({ user: "somebody" });
  const answer = await ask(path, ["host: gateway", `authorization: Bearer ${token}`]);
  expect(answer?.status).toBe(200);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ user: "somebody" });
});

test.each(["//v1/user/info", "/health/%2f..%2fv1/user/info", "/health;/../v1", "/v1%2fuser%2finfo"])(
  "%s is no path of the gateway",
  async (path) => {
    expect(await ask(path)).toMatchObject({ status: 404 });
  },
);

test("two Host headers are refused", async () => {
  const answer = await ask("/health", ["host: one", "host: other"]);
  expect(answer?.status).toBe(400);
  expect(JSON.parse(answer?.body ?? "")).toMatchObject({ error: { code: "host_repeated" } });
});
