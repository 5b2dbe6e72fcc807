import { expect, test } from "bun:test";
import { BrowserError } from "../../../browser/index.ts";
import { failureOf } from "../../../../test/kit/failure-of.ts";
import { OutboundError } from "../../../outbound/index.ts";
import { BadReply } from "../../../upstream/index.ts";
import { atEitherScheme } from "./other-scheme.ts";

/** The addresses that are tried if https fails for this reason. */
async function tried(text: string, reason: Error): Promise<string[]> {
  const urls: string[] = [];
  const read = async (url: string): Promise<void> => {
    urls.push(url);
    if (url.startsWith("https:")) throw reason;
  };
  const failure = await failureOf(atEitherScheme(text, read).then(() => undefined)).catch(() => undefined);
  if (urls.length === 1) expect(failure).toBe(reason);
  return urls;
}

const both = ["https://a.test/b", "http://a.test/b"];

test("an address without a scheme is http if nothing answers by https", async () => {
  expect(await tried("a.test/b", new OutboundError("unreachable", "x"))).toEqual(both);
  expect(await tried(" a.test/b", new BrowserError("unreachable", "x"))).toEqual(both);
  expect(await tried("a.test:8080/b", new OutboundError("unreachable", "x"))).toEqual([
    "https://a.test:8080/b",
    "http://a.test:8080/b",
  ]);
});

const brokenOff = new OutboundError("unreachable", "its answer broke off");
brokenOff.hasAnswered = true;

test.each([
  brokenOff,
  new OutboundError("untrusted", "its certificate is not trusted"),
  new BrowserError("untrusted", "its certificate is not valid"),
  new OutboundError("refused", "x"),
  new OutboundError("timeout", "x"),
  new OutboundError("unreachable", "its answer is not valid HTTP", { cause: new BadReply("x") }),
  new Error("x"),
])("and stays https otherwise: %s", async (reason) => {
  expect(await tried("a.test/b", reason)).toEqual(["https://a.test/b"]);
});

test("one with its scheme stays as it is", async () => {
  expect(await tried("https://a.test/b", new OutboundError("unreachable", "x"))).toEqual(["https://a.test/b"]);
});
