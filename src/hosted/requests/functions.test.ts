import { expect, test } from "bun:test";
import type { FoundServer, FoundTool } from "../running/served-tools.ts";
import { FunctionIndex, functionsOf } from "./functions.ts";

function toolNamed(name: string): FoundTool {
  const needs = { isReadOnly: false, needsApproval: false, isDeferred: false };
  return { name, description: "", parameters: {}, ...needs, target: undefined };
}

function serverWith(label: string, ...names: string[]): FoundServer {
  const never = (): boolean => false;
  const asked = { label, place: { name: label }, index: 0, permits: () => true };
  return { ...asked, needsApproval: never, isDeferred: never, tools: names.map(toolNamed) };
}

test("each function has a name of its own, also beside names that look numbered", () => {
  const servers = [serverWith("a", "get", "get_2"), serverWith("b", "get", "get_2"), serverWith("c", "get")];
  const names = functionsOf("responses", { tools: [], servers }, new Set(["get_3"])).map(({ name }) => name);
  expect(names).toEqual(["get", "get_2", "get_4", "get_2_2", "get_5"]);
});

test("the servers of one call have at most 1,024 tools together", () => {
  const many = Array.from({ length: 9 }, (_, number) => serverWith(`s${number}`, ...Array<string>(128).fill("get")));
  expect(() => functionsOf("responses", { tools: [], servers: many }, new Set())).toThrow("1024 are permitted");
  expect(functionsOf("responses", { tools: [], servers: many.slice(1) }, new Set())).toHaveLength(1_024);
});

test("an item finds the first function of its server's label and its tool's name", () => {
  const servers = [serverWith("a", "get"), serverWith("a", "get"), serverWith("b", "get")];
  const functions = functionsOf("responses", { tools: [], servers }, new Set());
  const index = new FunctionIndex(functions);
  expect(index.ofServer("a", "get")).toBe(functions[0] as never);
  expect(index.ofServer("b", "get")).toBe(functions[2] as never);
  expect(index.ofServer("b", "set")).toBeUndefined();
  expect([index.hasServer("b"), index.hasServer("c"), index.withAction("web_search")]).toEqual([
    true,
    false,
    undefined,
  ]);
});
