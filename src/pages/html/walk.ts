import { type AnyNode, type Element, hasChildren, isTag, type ParentNode } from "domhandler";

/** All elements below `root` in document order. `enter` returns false to leave out what an element contains. */
export function* elementsOf(root: ParentNode, enter: (element: Element) => boolean = () => true): Generator<Element> {
  const waiting: AnyNode[] = root.children.toReversed();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isTag(node)) {
      yield node;
      if (!enter(node)) continue;
    }
    if (hasChildren(node))
      for (let index = node.children.length - 1; index >= 0; index -= 1) push(waiting, node.children[index]);
  }
}

function push(waiting: AnyNode[], node: AnyNode | undefined): void {
  if (node !== undefined) waiting.push(node);
}
