import type { Module } from "./parse-module.ts";
import type { Violation } from "./rules.ts";

interface Visit {
  readonly order: number;
  low: number;
  onStack: boolean;
}

/** One violation for each group of files that import each other in a circle (Tarjan's strongly connected components). */
export function findCycles(modules: readonly Module[]): Violation[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const visits = new Map<string, Visit>();
  const stack: string[] = [];
  const groups: string[][] = [];

  function visit(path: string): Visit {
    const current: Visit = { order: visits.size, low: visits.size, onStack: true };
    visits.set(path, current);
    stack.push(path);
    for (const { target } of byPath.get(path)?.imports ?? []) {
      const seen = visits.get(target);
      if (seen === undefined) current.low = Math.min(current.low, visit(target).low);
      else if (seen.onStack) current.low = Math.min(current.low, seen.order);
    }
    if (current.low === current.order) groups.push(takeGroup(path));
    return current;
  }

  function takeGroup(path: string): string[] {
    const group = stack.splice(stack.lastIndexOf(path));
    for (const member of group) {
      const seen = visits.get(member);
      if (seen !== undefined) seen.onStack = false;
    }
    return group;
  }

  for (const { path } of modules) if (!visits.has(path)) visit(path);
  return groups.flatMap((group) => describeCycle(group, byPath));
}

function describeCycle(group: readonly string[], byPath: ReadonlyMap<string, Module>): Violation[] {
  const [path = ""] = group;
  const inGroup = byPath.get(path)?.imports.find(({ target }) => group.includes(target));
  if (inGroup === undefined) return [];
  const files = group.length === 1 ? "the file imports itself" : `a circle of ${group.join(", ")}`;
  const advice = `${files}; move what they share into a file that imports none of them`;
  return [{ path, line: inGroup.line, rule: "no cycles", advice }];
}
