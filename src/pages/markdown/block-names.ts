import { type ChildNode, type Document, type Element, hasChildren, isTag, type ParentNode } from "domhandler";

/** Elements that begin a line of their own. */
const blockNames = new Set(
  (
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form " +
    "h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend li main menu nav ol optgroup p pre search section summary table " +
    "tbody td tfoot th thead tr ul video audio frameset caption"
  ).split(" "),
);

/** Whether an element begins a line of its own by its name. */
export function isBlockName(name: string): boolean {
  return blockNames.has(name);
}

/** The elements that are a block, or contain one. One pass over the tree. */
export function blockElements(root: ParentNode): ReadonlySet<ChildNode> {
  const blocks = new Set<ChildNode>();
  const waiting: ParentNode[] = [root];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const child of parent.children) {
      if (!hasChildren(child)) continue;
      waiting.push(child);
      if (isTag(child) && (isBlockName(child.name) || isDisplayFormula(child))) addWithParents(blocks, child);
    }
  }
  return blocks;
}

function addWithParents(blocks: Set<ChildNode>, element: Element): void {
  let node: ParentNode | Document | null = element;
  while (node !== null && isTag(node) && !blocks.has(node)) {
    blocks.add(node);
    node = node.parent;
  }
}

/** A formula on a line of its own. */
export function isDisplayFormula({ name, attribs }: Element): boolean {
  if (name === "math") return attribs["display"] === "block";
  if (name === "script") return /^math\/.*mode\s*=\s*display/i.test(attribs["type"] ?? "");
  if (name === "mjx-container") return attribs["display"] === "true";
  return /(^|\s)(katex-display|MathJax_Display|mwe-math-element-block)(\s|$)/.test(attribs["class"] ?? "");
}
