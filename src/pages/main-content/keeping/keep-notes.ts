import type { Blocks, Region } from "../blocks.ts";

/** The ids that all generators give to footnotes: `fn:1`, `footnote-2`, `cite_note-3`. */
const noteId = /^(fn|footnote|endnote|note|cite[_-]?note)[:._-]?\w/i;

/** Levels between a text and the footnote that it is in. */
const levelsMax = 3;

/** Keeps footnotes together, in place: if one is content, the short ones beside it are too. */
export function keepNotes({ blocks }: Blocks, kept: boolean[]): void {
  const notes = blocks.map(({ region }) => noteAround(region)?.parent);
  const lists = new Set(notes.filter((list, index) => list !== undefined && kept[index] === true));
  if (lists.size === 0) return;
  for (const [index, list] of notes.entries()) if (lists.has(list)) kept[index] = true;
}

function noteAround(region: Region): Region | undefined {
  let at: Region | undefined = region;
  for (let level = 0; level < levelsMax && at !== undefined; level += 1) {
    if (noteId.test(at.node.attribs["id"] ?? "")) return at;
    at = at.parent;
  }
  return undefined;
}
