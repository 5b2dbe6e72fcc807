import { expect, test } from "bun:test";
import { withoutAzureVersion } from "./azure-paths.ts";
import { receivedRequest } from "./derived-request.ts";

const url = "http://localhost/openai/models";

test("a look-up loses the version, and its server knows it all the same", () => {
  const request = new Request(`${url}?api-version=2024-10-21&limit=2`, { headers: { "api-key": "secret" } });
  const derived = withoutAzureVersion(request);
  expect([derived.url, derived.headers.get("api-key")]).toEqual([`${url}?limit=2`, "secret"]);
  expect(receivedRequest(derived)).toBe(request);
  expect(receivedRequest(request)).toBe(request);
});

test.each([
  ["a handshake", { headers: { upgrade: "websocket" } }],
  ["a call", { method: "POST" }],
])("%s stays as it is", (_title, init) => {
  const request = new Request(`${url}?api-version=2024-10-21`, init);
  expect(withoutAzureVersion(request)).toBe(request);
});
