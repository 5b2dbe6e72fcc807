/** Requests without a valid `Host`, such as a load balancer's check over HTTP/1.0: the path is the whole path. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Caller, type Rig, sendRaw, startRig } from "../kit/index.ts";

let rig: Rig;
let caller: Caller;
beforeAll(async () => {
  rig = await startRig();
  caller = await rig.caller();
});
afterAll(() => rig.stop());

const withoutHost = ["HTTP/1.0", "HTTP/1.1\r\nHost:", "HTTP/1.1\r\nHost: a b", "HTTP/1.1\r\nHost: name/v1/x"];

async function statusOf(head: string): Promise<number | undefined> {
  const answer = await sendRaw(rig.gateway.url, `${head}\r\nConnection: close\r\n\r\n`);
  return answer?.status;
}

test.each(withoutHost)("%j: the health check is found", async (version) => {
  expect(await statusOf(`GET /health ${version}`)).toBe(200);
});

test.each(withoutHost)("%j: a path with eight further characters is another path", async (version) => {
  expect(await statusOf(`GET /xxxxxxxx/health ${version}`)).toBe(404);
});

test.each(withoutHost)("%j: a query is read", async (version) => {
  const path = "/v1/usage?group_by=model";
  expect(await statusOf(`GET ${path} ${version}\r\nAuthorization: Bearer ${caller.token}`)).toBe(200);
  expect(await statusOf(`GET /v1/usage?group_by=none ${version}\r\nAuthorization: Bearer ${caller.token}`)).toBe(422);
});
