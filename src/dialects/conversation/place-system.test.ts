import { expect, test } from "bun:test";
import type { Turn } from "./conversation.ts";
import { placeSystem } from "./place-system.ts";

const turn = (written: string, index: number): Turn => {
  const [role = "", text = ""] = written.split(":");
  return { role: role as Turn["role"], at: `messages.${index}`, parts: [{ kind: "text", text }] };
};
const shown = ({ role, parts }: Turn): string =>
  `${role}:${parts.map((part) => (part.kind === "text" ? part.text : part.kind)).join("+")}`;

test.each<[string, string[], string[]]>([
  ["none stays none", ["user:a"], ["user:a"]],
  ["the first stays", ["system:s", "user:a"], ["system:s", "user:a"]],
  ["several first ones are one", ["system:s", "developer:t", "user:a"], ["system:s+t", "user:a"]],
  ["one after a user's turn joins it", ["user:a", "system:s", "assistant:b"], ["user:a+s", "assistant:b"]],
  ["one at the end joins the user's turn before", ["user:a", "system:s"], ["user:a+s"]],
  [
    "one before a user's turn joins it",
    ["user:a", "assistant:b", "system:s", "user:c"],
    ["user:a", "assistant:b", "user:s+c"],
  ],
  [
    "two of them too",
    ["user:a", "assistant:b", "system:s", "system:t", "user:c"],
    ["user:a", "assistant:b", "user:s+t+c"],
  ],
  [
    "one behind a result is first",
    ["user:a", "assistant:b", "tool:r", "system:s", "assistant:c"],
    ["system:s", "user:a", "assistant:b", "tool:r", "assistant:c"],
  ],
  [
    "one behind the last answer is the user's next turn",
    ["system:s", "user:a", "assistant:b", "system:t"],
    ["system:s", "user:a", "assistant:b", "user:t"],
  ],
  [
    "one behind the last result is first",
    ["user:a", "assistant:b", "tool:r", "system:s"],
    ["system:s", "user:a", "assistant:b", "tool:r"],
  ],
])("%s", (_title, turns, expected) => {
  expect(placeSystem(turns.map(turn)).map(shown)).toEqual(expected);
});
