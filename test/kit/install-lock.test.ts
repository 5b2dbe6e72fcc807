import { expect, test } from "bun:test";
import { withInstallLock } from "./install-lock.ts";

test("works of one name follow each other, those of different names don't wait", async () => {
  const steps: string[] = [];
  const other = Promise.withResolvers<void>();
  const work = (name: string) =>
    withInstallLock("test-one", async () => {
      steps.push(`${name} begins`);
      await other.promise;
      steps.push(`${name} ends`);
    });
  const both = Promise.all([work("the first"), work("the second")]);
  await withInstallLock("test-two", async () => other.resolve());
  await both;
  expect(steps).toEqual(["the first begins", "the first ends", "the second begins", "the second ends"]);
});

test("a work that fails lets the next one begin", async () => {
  const failing = withInstallLock("test-three", () => Promise.reject(new Error("failed")));
  expect(await Promise.allSettled([failing])).toMatchObject([{ status: "rejected" }]);
  expect(await withInstallLock("test-three", () => Promise.resolve("done"))).toBe("done");
});
