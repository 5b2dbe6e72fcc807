import { expect, test } from "bun:test";
import { Sources } from "../citations/sources.ts";
import { GivenAddresses } from "./given-addresses.ts";
import { useTool } from "./web-tools.ts";

const page = "https://example.com/page";
const long = `https://evil.example/${"abcdefghijklmnopqrstuvwxyz".repeat(40)}`;

async function find(pattern: string, status = 200) {
  const given = new GivenAddresses();
  given.add(page);
  const body = JSON.stringify({ success: true, data: { markdown: `Before ${long} after`, metadata: {} } });
  const scrape = () => Promise.resolve({ status, headers: { "x-tollgate-credits": "0.001" }, body });
  const tool = { allowedDomains: [], blockedDomains: [], contentTokensMax: undefined };
  const outcome = await useTool(
    { search: scrape, scrape },
    {
      called: { action: "find_in_page", tool } as never,
      arguments: JSON.stringify({ url: page, pattern }),
      requestOf: () => ({}) as never,
      nonce: "n",
      sources: new Sources(),
      given,
    },
  );
  return { given, outcome };
}

test("an address that is cut where the model has chosen may not be opened", async () => {
  const { given, outcome } = await find("/abcdefg");
  expect(given.has(long)).toBe(true);
  expect(outcome.text).not.toContain("evil.example");
  for (let length = 25; length < long.length; length += 1) expect(given.has(long.slice(0, length))).toBe(false);
});

test("a use that fails costs what it was charged", async () => {
  const { outcome } = await find("x", 500);
  expect(outcome).toMatchObject({ error: "url_not_accessible", cost: 1_000_000n });
});
