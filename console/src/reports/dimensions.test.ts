import { expect, test } from "bun:test";
import { groupingsFor, groupingText, groupText, groupValue, isGrouping, filtersOf } from "./dimensions.ts";

const group = { requests: 1, failures: 0, input_tokens: 1, output_tokens: 1, credits: 1, list_credits: 1 };

test("a tag is a group and a filter like any other", () => {
  expect(groupingsFor(false, ["team"]).at(-1)).toBe("tag:team");
  expect([groupingText("tag:team"), groupingText("end_user")]).toEqual(["Tag team", "End user"]);
  expect(groupValue({ ...group, "tag:team": "search" }, "tag:team")).toBe("search");
  expect(groupText(groupValue({ ...group, "tag:team": null }, "tag:team"), "tag:team")).toBe("No tag team");
  expect(["tag:team", "tag:", "tag:a b", "toString"].map((text) => isGrouping(text))).toEqual([
    true,
    false,
    false,
    false,
  ]);
  const words = { "tag:team": "search", model: "openai/x", metric: "requests", find: "x" };
  expect(filtersOf(words)).toEqual({ "tag:team": "search", model: "openai/x" });
});
