import { z } from "zod";
import { BrowserError } from "../browser-error.ts";
import type { Deadline } from "./deadline.ts";
import type { IsolatedWorld } from "./isolated-world.ts";

/** UTF-16 units of a document. The largest real pages have about ten million. */
const HTML_CHARACTERS_MAX = 16 * 1024 * 1024;

/** How often the document is read again because the page navigated meanwhile, and the pause before. */
const READS_MAX = 20;
const READ_PAUSE_MS = 100;

/**
 * The document as text; in a document that is too long, its length. Elements with open shadow roots contain the part that a reader
 * sees, in `template` elements.
 */
const expression = `(() => {
  const { doctype, documentElement: root } = document;
  if (root === null) return { html: "" };
  const shadowRoots = [];
  const walkers = [document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)];
  for (let walker = walkers.pop(); walker !== undefined; walker = walkers.pop()) {
    for (let node = walker.currentNode; node !== null; node = walker.nextNode()) {
      const inner = node.shadowRoot;
      if (inner === null || inner === undefined) continue;
      shadowRoots.push(inner);
      walkers.push(document.createTreeWalker(inner, NodeFilter.SHOW_ELEMENT));
    }
  }
  const type = doctype === null ? "" : new XMLSerializer().serializeToString(doctype);
  const whole = root.outerHTML;
  if (whole.length > ${HTML_CHARACTERS_MAX}) return { length: whole.length };
  if (shadowRoots.length === 0 || root.getHTML === undefined) return { html: type + whole };
  const open = whole.slice(0, whole.length - root.innerHTML.length - root.localName.length - 3);
  const html = type + open + root.getHTML({ shadowRoots }) + "</" + root.localName + ">";
  return html.length > ${HTML_CHARACTERS_MAX} ? { length: html.length } : { html };
})()`;

const answer = z.union([z.object({ html: z.string() }), z.object({ length: z.number() })]);

/** The current document in UTF-8. Rejects with a `BrowserError`, or for a page that never stands still. */
export async function readHtml(world: IsolatedWorld, deadline: Deadline): Promise<Uint8Array> {
  for (let read = 1; ; read += 1) {
    try {
      const found = answer.parse(await deadline.bound(world.evaluate(expression)));
      if ("html" in found) return new TextEncoder().encode(found.html);
      throw new BrowserError("too_large", `its document is longer than ${HTML_CHARACTERS_MAX} characters`);
    } catch (cause) {
      if (cause instanceof BrowserError || read === READS_MAX) throw cause;
      // A page that navigates without end stops doing so without its script.
      await deadline.bound(world.stopScripts());
      await deadline.bound(Bun.sleep(READ_PAUSE_MS));
    }
  }
}
