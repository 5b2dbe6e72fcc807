import { expect, test } from "bun:test";
import { PageError } from "../pages/index.ts";
import { pageFailure } from "./failures.ts";

test("a selector that is none is the request's fault, and named", () => {
  const failure = pageFailure(new PageError("selector", "not a CSS selector: a["));
  expect(failure).toMatchObject({
    code: "validation_failed",
    message: "includeTags, excludeTags: not a CSS selector: a[.",
  });
});
