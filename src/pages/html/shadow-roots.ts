import { type ChildNode, Document, type Element, isDocument, isTag, isText } from "domhandler";
import { adopt } from "./adopt.ts";
import { elementsOf } from "./walk.ts";

/**
 * Puts the contents of the shadow roots of a tree in the place of the elements that have them, as a reader sees it: pages declare them
 * in templates, and the browser writes them so. The tree may get deeper.
 */
export function openShadowRoots(document: Document): void {
  // The inner ones first, so that each is complete when the one around it takes it over.
  for (const host of [...elementsOf(document)].toReversed()) {
    const template = host.children.find(isShadowRoot);
    if (template === undefined) continue;
    const content = contentOf(template);
    const slots = [...elementsOf(new Document(content))].filter(({ name }) => name === "slot");
    const own = host.children.filter((child) => child !== template);
    adopt(host, content);
    fillSlots(slots, own);
  }
}

function isShadowRoot(node: ChildNode): node is Element {
  return isTag(node) && node.name === "template" && node.attribs["shadowrootmode"] !== undefined;
}

function contentOf({ children }: Element): ChildNode[] {
  return children.flatMap((child) => (isDocument(child) ? child.children : [child]));
}

/** Each of the element's own children goes to the first slot of its name; children without a slot are not shown. */
function fillSlots(slots: readonly Element[], own: readonly ChildNode[]): void {
  const byName = Map.groupBy(own, (child) => (isTag(child) ? (child.attribs["slot"] ?? "") : ""));
  for (const slot of slots) {
    const name = slot.attribs["name"] ?? "";
    const shown = byName.get(name) ?? [];
    byName.delete(name);
    // A slot that gets nothing shows its own content.
    if (shown.some((child) => !isText(child) || child.data.trim() !== "")) adopt(slot, shown);
    // It is no slot of the roots around this one.
    slot.name = "span";
  }
}
