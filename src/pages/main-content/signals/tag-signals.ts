import { landmarks } from "../landmarks.ts";
import { isHeading } from "../tags.ts";
import { flag, type Signal } from "./signal.ts";

const itemTags: readonly string[] = ["li", "dt", "dd"];
const cellTags: readonly string[] = ["td", "th"];
const inlineTags: readonly string[] = ["a", "span", "strong", "label", "time", "b"];

/** The elements that a block is in. */
export const tagSignals: readonly Signal[] = [
  { name: "is-paragraph", of: ({ region }) => flag(region.tag === "p") },
  { name: "heading-level", of: ({ region: { tag } }) => (isHeading(tag) ? Number(tag.slice(1)) : 0) },
  { name: "is-item", of: ({ region }) => itemTags.indexOf(region.tag) + 1 },
  { name: "is-cell", of: ({ region }) => cellTags.indexOf(region.tag) + 1 },
  { name: "inline", of: ({ inlineTags: own }) => inlineTags.indexOf(own.at(-1) ?? "") + 1 },
  { name: "hidden", of: ({ region }) => flag(region.hidden) },
  ...Object.entries(landmarks).map(([name, bit]): Signal => ({
    name: `in-${name}`,
    of: ({ region }) => flag((region.landmarks & bit) !== 0),
  })),
];
