import { expect, test } from "bun:test";
import { ToolIndex } from "./tool-index.ts";

const listOf = (tools: Record<string, string>) =>
  new Map(
    Object.entries(tools).map(([name, description]) => [
      name,
      { definition: { name, description, inputSchema: { properties: { repositoryName: {} } } } },
    ]),
  );

const github = listOf({
  search_code: "Finds code in repositories",
  createIssue: "Opens a ticket",
  delete_file: "Removes a file, also of an issue",
});

test("the words of names count more than those of descriptions, in any form", async () => {
  const index = new ToolIndex();
  await index.update(new Map([["github", github]]));
  const names = (query: string): string[] => [...index.search(query)].map(({ tool }) => tool);
  expect(names("issues")).toEqual(["createIssue", "delete_file"]);
  expect(names("create an issue")[0]).toBe("createIssue");
  expect(names("searching codes")).toEqual(["search_code"]);
  expect(names("repository").toSorted()).toEqual(["createIssue", "delete_file", "search_code"]);
  expect(names("github").length).toBe(3);
  expect(names('" OR * NEAR( -')).toEqual([]);
  expect(names("")).toEqual([]);
});

test("a list that has changed replaces the one before", async () => {
  const index = new ToolIndex();
  const weather = listOf({ forecast: "Tells tomorrow's weather" });
  await index.update(
    new Map([
      ["github", github],
      ["weather", weather],
    ]),
  );
  await index.update(new Map([["github", listOf({ list_branches: "Lists branches" })]]));
  expect([...index.search("issue")]).toEqual([]);
  expect([...index.search("branch")]).toEqual([{ list: "github", tool: "list_branches" }]);
  expect([...index.search("weather")]).toEqual([{ list: "weather", tool: "forecast" }]);
});

test("words that most tools have do not slow a search, and leave no tool out", async () => {
  const index = new ToolIndex();
  const many = Object.fromEntries(
    Array.from({ length: 6_000 }, (_, at) => [`do_${at}`, "Returns every field as JSON"]),
  );
  const list = listOf({ ...many, find_ticket: "Returns a ticket as JSON", json_field: "Formats" });
  await index.update(new Map([["all", list]]));
  const first = (query: string, count: number): string[] =>
    [...index.search(query)].slice(0, count).map(({ tool }) => tool);
  expect(first("return json of a ticket", 1)).toEqual(["find_ticket"]);
  expect([...index.search("return json of a ticket")]).toHaveLength(6_002);
  // Of common words, those in the name come first, and all together before any of them.
  expect(first("json fields", 2)).toEqual(["json_field", "do_0"]);
  await index.update(new Map([["all", listOf({ find_ticket: "Returns a ticket as JSON" })]]));
  expect(first("json", 2)).toEqual(["find_ticket"]);
});
