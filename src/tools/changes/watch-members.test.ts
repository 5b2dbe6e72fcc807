import { expect, test } from "bun:test";
import type { ToolServer } from "../tool-server.ts";
import { watchMembers } from "./watch-members.ts";

test("if one of the servers cannot be watched, none is", async () => {
  const open = new Set<string>();
  const server = (name: string): ToolServer =>
    ({
      name,
      watch: async () => {
        await Promise.resolve();
        if (name === "broken") throw new Error("the storage is away");
        open.add(name);
        return () => open.delete(name);
      },
    }) as unknown as ToolServer;
  const members = ["a", "broken", "b"].map(server);
  const caller = { user: "ann", accountAt: () => undefined };
  const options = { members, callable: members, isSet: true, caller };
  const wanted = { lists: ["tools"] as const, uris: [] };
  const reason: unknown = await watchMembers(options, wanted, () => undefined).catch((thrown: unknown) => thrown);
  expect([reason, open.size]).toMatchObject([{ message: "the storage is away" }, 0]);
  const rest = members.filter(({ name }) => name !== "broken");
  const { stop } = await watchMembers({ ...options, members: rest, callable: rest }, wanted, () => undefined);
  expect(open.size).toBe(2);
  stop();
  expect(open.size).toBe(0);
});
