/** Every block of docs/clients.md, run as it is by somebody who has just typed `npm start`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Gateway, root, sorted, startGateway, stopGateways, until } from "../kit/index.ts";
import { readSections } from "./blocks.ts";
import { clients } from "./clients.ts";
import { blockMsMax, installClient, runSection } from "./run-section.ts";

const installMsMax = 600_000;

const sections = readSections();

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: {},
    // The providers and prices of a gateway without a configuration.
    config: { providers: null, pricing: null },
    arguments: ["--sandbox"],
  });
});
afterAll(async () => {
  try {
    expect(await gateway.stop()).toBe(0);
  } finally {
    await stopGateways();
  }
});

describe("the document", () => {
  test("has a block for every client, and every client is run or has a reason", () => {
    expect(sorted(sections.map(({ client }) => client))).toEqual(sorted(Object.keys(clients)));
    for (const { client, blocks } of sections) {
      if ("models" in (clients[client] ?? {})) expect(blocks.length, client).toBeGreaterThan(0);
    }
  });

  test("is linked from the first screen of the README", () => {
    const first = readFileSync(join(root, "README.md"), "utf8").split("\n").slice(0, 50).join("\n");
    expect(first).toContain("](docs/clients.md)");
  });
});

/** The models that a user's calls were answered by. */
function answeredModels(user: string): string[] {
  const calls = gateway.logLines().filter((line) => line["msg"] === "call" && line["user"] === user);
  return sorted(new Set(calls.filter(({ status }) => status === 200).map(({ model }) => String(model))));
}

describe.each(
  sections.flatMap((section) => {
    const client = clients[section.client];
    return client !== undefined && "models" in client ? [[section.client, section, client] as const] : [];
  }),
)("%s", (name, section, client) => {
  test(
    "works as the document has it",
    async () => {
      if (client.isLarge === true && process.env["CLIENTS"] !== "all") {
        console.log(`skipped: ${name}: CLIENTS=all runs it`);
        return;
      }
      const installed = await installClient(client);
      if ("missing" in installed) {
        console.log(`skipped: ${name}: ${installed.missing}`);
        return;
      }
      const token = await gateway.token({ user: name });
      // The simulated model repeats what it was asked; a transcript repeats nothing.
      expect(await runSection(section, { url: gateway.url, bin: installed.bin, token })).toMatch(
        client.answer ?? /hello/i,
      );
      // The log is written in blocks.
      for (const model of client.models) {
        await until(`${name} has called ${model}`, () => answeredModels(name).includes(model));
      }
    },
    installMsMax + blockMsMax,
  );
});
