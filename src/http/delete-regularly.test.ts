import { expect, test } from "bun:test";
import { startDeleting } from "./delete-regularly.ts";

const broken = new Error("the file is locked");

test.each<[string, () => Promise<unknown>]>([
  ["rejects", () => Promise.reject(broken)],
  [
    "throws at once",
    () => {
      throw broken;
    },
  ],
])("a store that %s is logged, and ends nothing", async (_, deleteExpired) => {
  const lines: object[] = [];
  const { promise: logged, resolve } = Promise.withResolvers<void>();
  const error = (fields: object): void => {
    lines.push(fields);
    resolve();
  };
  const part = startDeleting(deleteExpired, { error });
  await logged;
  await part.stop?.();
  expect(lines).toEqual([{ reason: "Error: the file is locked" }]);
});
