import { expect, test } from "bun:test";
import { sectionsOf, settingsOf } from "./settings.ts";

test("every value has its path", () => {
  const config = {
    server: { port: 8787, tls: {} },
    storage: "sqlite:a.db",
    providers: { openai: { aliases: ["oa"] } },
  };
  expect(settingsOf(config)).toEqual([
    { path: "server.port", value: "8787" },
    { path: "server.tls", value: "{}" },
    { path: "storage", value: "sqlite:a.db" },
    { path: "providers.openai.aliases", value: '["oa"]' },
  ]);
  expect(sectionsOf(settingsOf(config)).map(([name, { length }]) => [name, length])).toEqual([
    ["General", 1],
    ["server", 2],
    ["providers", 1],
  ]);
});
