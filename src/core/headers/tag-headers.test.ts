import { expect, test } from "bun:test";
import { tagsInHeaders } from "./tag-headers.ts";

const own = "x-tollgate-tags";
const litellm = "x-litellm-tags";

function readTags(headers: Record<string, string>): Record<string, unknown> | undefined {
  const found = tagsInHeaders(new Headers(headers));
  return found && { ...Object.fromEntries(found.values), malformed: found.malformed };
}

test.each<[string, Record<string, string>, Record<string, string>]>([
  ["one", { [own]: "team=search" }, { team: "search" }],
  ["several, with spaces", { [own]: " team = search , env=prod, " }, { team: "search", env: "prod" }],
  ["an equals sign in the value", { [own]: "q=a=b" }, { q: "a=b" }],
  ["a repeated key", { [own]: "team=a,team=b" }, { team: "a" }],
  ["nothing", { [own]: "" }, {}],
  ["UTF-8", { [own]: Buffer.from("team=Größe").toString("latin1") }, { team: "Größe" }],
  ["LiteLLM's", { [litellm]: "jobID:214,taskName=run,nightly" }, { jobID: "214", taskName: "run", tag: "nightly" }],
  ["both", { [own]: "team=a", [litellm]: "team:b,env:c" }, { team: "a", env: "c" }],
  ["a value of 128 characters", { [own]: `team=${"x".repeat(128)}` }, { team: "x".repeat(128) }],
])("%s", (_, headers, tags) => {
  expect(readTags(headers)).toEqual({ ...tags, malformed: [] });
});

test.each<[string, string]>([
  ["no value", "team"],
  ["an empty value", "team="],
  ["no key", "=search"],
  ["a space in the key", "my team=search"],
  ["a key of 65 characters", `${"k".repeat(65)}=v`],
  ["a value of 129 characters", `team=${"x".repeat(129)}`],
  ["a tab", "team=a\tb"],
  ["one good pair and a bad one", "team=search,env"],
  ["too long", "a=b,".repeat(3_000)],
])("a header with %s counts as absent", (_, text) => {
  expect(readTags({ [own]: text, [litellm]: "env:prod" })).toEqual({ env: "prod", malformed: [own] });
});

test("without a header there are none", () => {
  expect(readTags({ "x-tollgate-session": "s" })).toBeUndefined();
});
