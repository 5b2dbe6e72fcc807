import { isTag, type Element } from "domhandler";

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Elements without text of the page. */
const silentTags = setOf(
  "script style template head title svg iframe object embed canvas audio video link meta base source track param area map",
);

/** Whether the content of an element is no text of the page. A noscript that was not opened holds markup as one text. */
export function isSilent({ name, children }: Element): boolean {
  return silentTags.has(name) || (name === "noscript" && !children.some(isTag));
}

/** Elements that end the running text before them and begin their own. */
const blockTags = setOf(
  "address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav noscript ol optgroup option p pre search section select summary " +
    "table tbody td textarea tfoot th thead tr ul",
);

/** Elements of unknown names with a hyphen are components of a page: most are laid out as blocks. */
export function isBlockTag(tag: string): boolean {
  return blockTags.has(tag) || tag.includes("-");
}

/** Elements that a reader sees although they have no text. They stay if the text around them stays. */
export const mediaTags = setOf("img picture video audio iframe object embed hr");

export function isHeading(tag: string): boolean {
  return tag.length === 2 && tag.startsWith("h") && tag >= "h1" && tag <= "h6";
}
