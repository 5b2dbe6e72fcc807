import { expect, test } from "bun:test";
import { csvOf } from "./csv.ts";

test("cells are quoted where they must be", () => {
  expect(csvOf([["a", 'b "c"', "d,e", "f\ng"]])).toBe('a,"b ""c""","d,e","f\ng"\r\n');
});

test.each(["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "|cmd"])("%p is no formula", (text) => {
  expect(csvOf([[text]])).toStartWith("'");
});

test("negative numbers stay numbers", () => {
  expect(csvOf([["-0.02", "12"]])).toBe("-0.02,12\r\n");
});
