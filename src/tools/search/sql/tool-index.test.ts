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
