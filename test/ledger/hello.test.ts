/** With one credit, "Hello" gets an answer on every chat model of the catalogue, in every dialect. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { builtInCatalog } from "../../src/pricing/index.ts";
import {
  chatPath,
  creditsText,
  expectCleanAudit,
  messagesPath,
  oneCredit,
  responsesPath,
  type Rig,
  startRig,
} from "../kit/index.ts";

/** The catalogue's ids of the providers that have a simulator. */
const prefixes: Readonly<Record<string, string>> = {
  openai: "openai",
  google: "google",
  "x-ai": "xai",
  deepseek: "deepseek",
  anthropic: "anthropic",
  mistral: "mistral",
  byteplus: "byteplus",
};

const catalog = builtInCatalog();
const models = Object.entries(prefixes).flatMap(([provider, prefix]) =>
  catalog.models(provider).map(({ name, model: { kind = "chat" } }) => ({ id: `${prefix}/${name}`, kind })),
);

const hello = [{ role: "user", content: "Hello" }];

/** The bodies with the parameters that each dialect requires. */
const bodies: Readonly<Record<string, object>> = {
  [chatPath]: { messages: hello },
  [messagesPath]: { messages: hello, max_tokens: 1_024 },
  [responsesPath]: { input: "Hello" },
};

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

/** The failures of any of a model's calls, which are paid from the same credit: the last ones have a little less. */
async function failuresOf(id: string, paths: readonly string[]): Promise<string[]> {
  const failures: string[] = [];
  const token = await rig.gateway.token({ user: id, credits: oneCredit });
  for (const path of paths) {
    for (const stream of [false, true]) {
      const answer = await fetch(rig.gateway.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ model: id, stream, ...bodies[path] }),
      });
      const text = await answer.text();
      const isAnswered = answer.status === 200 && !text.includes("insufficient_credits") && text.includes("Hello");
      if (!isAnswered) failures.push(`${path} stream=${stream}: ${answer.status} ${text.slice(0, 200)}`);
    }
  }
  return failures;
}

describe.each(Object.values(prefixes))("%s", (prefix) => {
  const own = models.filter(({ id }) => id.startsWith(`${prefix}/`));
  const chat = own.filter(({ kind }) => kind === "chat");
  const responses = own.filter(({ kind }) => kind === "responses");

  test(`answers with ${creditsText(oneCredit)} credit`, async () => {
    expect(chat.length).toBeGreaterThan(5);
    const failures: [string, string[]][] = [];
    const queue = [
      ...chat.map(({ id }) => ({ id, paths: [chatPath, messagesPath, responsesPath] })),
      ...responses.map(({ id }) => ({ id, paths: [responsesPath] })),
    ];
    const work = async (): Promise<void> => {
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        const failed = await failuresOf(next.id, next.paths);
        if (failed.length > 0) failures.push([next.id, failed]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(failures).toEqual([]);
  });
});

test("the books are clean after all of them", async () => {
  await rig.expectBalancedBooks();
  await expectCleanAudit(rig.gateway);
});
