import { clientTools, foreignItems, type FactRow, toolNames } from "./row.ts";

/** The limits of BytePlus's models. */
export const byteplusRows: readonly FactRow[] = [
  {
    fact: "thoughts",
    dialects: ["chat"],
    takes: { reasoningField: "reasoning_content" },
    rule: "earlier thoughts in `reasoning_content`",
    source: "byteplus.md",
  },
  clientTools([], "byteplus.md"),
  foreignItems(["openai", "xai", "others"], "byteplus.md"),
  toolNames(64, "byteplus.md"),
];
