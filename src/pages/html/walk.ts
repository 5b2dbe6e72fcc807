import { type Element, isDocument, isTag, type ParentNode } from "domhandler";

/** All elements below `root` in document order. `enter` returns false to leave out the content of an element. */
export function* elementsOf(root: ParentNode, enter: (element: Element) => boolean = () => true): Generator<Element> {
  const waiting: Element[] = [];
  pushElements(waiting, root);
  for (let element = waiting.pop(); element !== undefined; element = waiting.pop()) {
    yield element;
    if (enter(element)) pushElements(waiting, element);
  }
}

function pushElements(waiting: Element[], { children }: ParentNode): void {
  for (let index = children.length - 1; index >= 0; index -= 1) {
    const child = children[index];
    if (child === undefined) continue;
    if (isTag(child)) waiting.push(child);
    // The content of a template.
    else if (isDocument(child)) pushElements(waiting, child);
  }
}
