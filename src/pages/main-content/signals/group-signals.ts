import type { Group } from "../page-facts.ts";
import { share, type Signal } from "./signal.ts";

function groupSignal(name: string, of: (group: Group, words: number, blocks: number) => number): Signal {
  return {
    name: `group-${name}`,
    of: ({ index }, { groups, words, blocks }) => {
      const group = groups[index];
      return group === undefined ? 0 : of(group, words, blocks.length);
    },
  };
}

/** The blocks at the same place of the template: the posts of a thread, the items of a list, the links of a menu. */
export const groupSignals: readonly Signal[] = [
  groupSignal("blocks", ({ blocks }) => Math.log1p(blocks)),
  groupSignal("length", ({ words, blocks }) => share(words, blocks)),
  groupSignal("share", (group, words) => share(group.words, words)),
  groupSignal("links", ({ linkWords, words }) => share(linkWords, words)),
  groupSignal("spread", ({ first, last }, _, blocks) => share(last - first, blocks)),
];
