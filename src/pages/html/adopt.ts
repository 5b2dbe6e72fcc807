import type { ChildNode, ParentNode } from "domhandler";

/** Makes `children` the children of `parent`, and neighbours of each other. */
export function adopt(parent: ParentNode, children: ChildNode[]): void {
  parent.children = children;
  for (const [index, child] of children.entries()) {
    child.parent = parent;
    child.prev = children[index - 1] ?? null;
    child.next = children[index + 1] ?? null;
  }
}
