import { type ChildNode, hasChildren, isTag, type ParentNode } from "domhandler";
import { adopt } from "./adopt.ts";

/**
 * Makes a tree shallower, in place: an element below `levelsMax` becomes the next sibling of its parent, with everything
 * that follows it there. Browsers treat pages that never close their elements the same way. Texts keep their order.
 */
export function boundDepth(root: ParentNode, levelsMax: number): void {
  let level: ParentNode[] = [root];
  for (let depth = 0; depth < levelsMax && level.length > 0; depth += 1) {
    level = level.flatMap((parent) => parent.children.filter(hasChildren));
  }
  for (const parent of level) if (parent.children.some(hasElements)) adopt(parent, flatten(parent));
}

function hasElements(node: ChildNode): node is ChildNode & ParentNode {
  return hasChildren(node) && node.children.some(isContainer);
}

function isContainer(node: ChildNode): boolean {
  return isTag(node) || hasChildren(node);
}

/** The descendants of `parent` in document order; of each element, only the texts before its first inner element stay in it. */
function flatten(parent: ParentNode): ChildNode[] {
  const flat: ChildNode[] = [];
  const waiting = parent.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    flat.push(node);
    if (!hasElements(node)) continue;
    const moved = node.children.splice(node.children.findIndex(isContainer));
    adopt(node, node.children);
    for (const child of moved.toReversed()) waiting.push(child);
  }
  return flat;
}
