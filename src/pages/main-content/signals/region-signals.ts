import type { Block, Region } from "../blocks.ts";
import type { PageFacts } from "../page-facts.ts";
import { share, type Signal } from "./signal.ts";

/** Levels above the block's own region. */
const levels: readonly number[] = [0, 1, 2, 4];

function ancestor(region: Region, level: number): Region {
  let at = region;
  for (let step = 0; step < level && at.parent !== undefined; step += 1) at = at.parent;
  return at;
}

function regionSignal(name: string, level: number, of: (region: Region) => number): Signal {
  return { name: `region-${name}-${level}`, of: ({ region }) => of(ancestor(region, level)) };
}

function sectionSignal(name: string, of: (section: Region, page: PageFacts) => number): Signal {
  return {
    name: `section-${name}`,
    of: ({ region }: Block, page) => of(page.sections[region.index] ?? region, page),
  };
}

const linkShare = ({ linkWords, words }: Region): number => share(linkWords, words);
const proseShare = ({ proseWords, words }: Region): number => share(proseWords, words);
const blockLength = ({ words, blocks }: Region): number => share(words, blocks);
const controlShare = ({ controls, blocks }: Region): number => share(controls, blocks);
const imageShare = ({ images, blocks }: Region): number => share(images, blocks);

/** The content of the elements around a block. */
export const regionSignals: readonly Signal[] = [
  ...levels.flatMap((level) => [
    regionSignal("words", level, ({ words }) => Math.log1p(words)),
    regionSignal("links", level, linkShare),
    regionSignal("prose", level, proseShare),
    regionSignal("block-length", level, blockLength),
    regionSignal("repeated", level, ({ repeated }) => Math.log1p(repeated)),
  ]),
  regionSignal("controls", 2, controlShare),
  regionSignal("images", 2, imageShare),
  sectionSignal("share", (section, page) => share(section.words, page.words)),
  sectionSignal("links", linkShare),
  sectionSignal("prose", proseShare),
  sectionSignal("block-length", blockLength),
  sectionSignal("controls", controlShare),
  sectionSignal("images", imageShare),
  { name: "from-densest", of: ({ region }, { fromDensest }) => fromDensest[region.index] ?? 0 },
];
