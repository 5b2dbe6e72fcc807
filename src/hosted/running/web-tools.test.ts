import { expect, test } from "bun:test";
import { Sources } from "../citations/sources.ts";
import { askedTools } from "../requests/asked-tools.ts";
import { requireDomains } from "../requests/web-options.ts";
import { GivenAddresses } from "./given-addresses.ts";
import { useTool } from "./web-tools.ts";

const page = "https://example.com/page";
const long = `https://evil.example/${"abcdefghijklmnopqrstuvwxyz".repeat(40)}`;

const open = { allowedDomains: [], blockedDomains: [], contentTokensMax: undefined };

async function find(
  pattern: string,
  status = 200,
  markdown = `Before ${long} after`,
  { url = page, tool = open }: { url?: string; tool?: object | undefined } = {},
) {
  const given = new GivenAddresses();
  await given.add(url);
  const body = JSON.stringify({ success: true, data: { markdown, metadata: {} } });
  const scrape = () => Promise.resolve({ status, headers: { "x-tollgate-credits": "0.001" }, body });
  const outcome = await useTool(
    { search: scrape, scrape },
    {
      called: { action: "find_in_page", tool } as never,
      arguments: JSON.stringify({ url, pattern }),
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

// An expression without a start would take minutes.
test("a page may be one word", async () => {
  const { outcome } = await find("x", 200, "x".repeat(300_000));
  expect(outcome.error).toBeUndefined();
});

test.each([
  "https://example.com./page",
  "https://EXAMPLE.com:8443/page",
  "https://sub.example.com/page",
  "https://example.com/page",
])("a blocked domain is blocked as %s", async (url) => {
  for (const domain of ["Example.com", "https://example.com:80/path", "example.com."]) {
    const [tool] = askedTools("messages", { tools: [{ type: "web_fetch_20250910", blocked_domains: [domain] }] });
    const { outcome } = await find("x", 200, "", { url, tool });
    expect(outcome.error).toBe("url_not_allowed");
  }
});

test("a domain that is none is refused where the gateway would run the tool", () => {
  for (const domain of ["not a domain", "x".repeat(3_000), "//".repeat(1_000)]) {
    const asked = askedTools("messages", { tools: [{ type: "web_fetch_20250910", allowed_domains: [domain] }] });
    expect(() => asked.forEach((tool) => "unreadDomain" in tool && requireDomains(tool))).toThrow("is no domain");
  }
});

test("a use that fails costs what it was charged", async () => {
  const { outcome } = await find("x", 500);
  expect(outcome).toMatchObject({ error: "url_not_accessible", cost: 1_000_000n });
});
