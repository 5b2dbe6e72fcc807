import { z } from "zod";
import { frameMark, hiddenMark } from "../../pages/index.ts";
import { BrowserError } from "../browser-error.ts";
import type { Deadline } from "./deadline.ts";
import type { IsolatedWorld } from "./isolated-world.ts";

/** UTF-16 units of a document. The largest real pages have about ten million. */
const HTML_CHARACTERS_MAX = 16 * 1024 * 1024;

/** How often the document is read again because the page navigated meanwhile, and the pause before. */
const READS_MAX = 20;
const READ_PAUSE_MS = 100;

/** Frames that are read, and UTF-16 units of one. */
const FRAMES_MAX = 20;
const FRAME_CHARACTERS_MAX = 1024 * 1024;

/** Elements whose style is looked at. */
const STYLES_MAX = 50_000;

/** Pixels beyond the edge of a page from which on nothing is meant to slide into it. */
const OUTSIDE_PIXELS_MIN = 500;

/**
 * A function of an element that gives the way in which its computed style hides it, if it does. It has to be asked for all elements in
 * document order.
 */
const hidingOf = `(() => {
  const unseen = new Map();
  const gone = new Set();
  const isFlat = ({ overflowX, overflowY }, side) => side <= 1 && (overflowX !== "visible" || overflowY !== "visible");
  const outside = ({ position }, { right, bottom }) =>
    position === "absolute" || position === "fixed" ? Math.min(right + scrollX, bottom + scrollY) : 1;
  const wayOf = (element, style) => {
    if (style.display === "contents" || !("offsetParent" in element) || element.firstChild === null) return undefined;
    const box = element.getBoundingClientRect();
    const place = outside(style, box);
    if (place <= -${OUTSIDE_PIXELS_MIN} || parseFloat(style.textIndent) <= -${OUTSIDE_PIXELS_MIN}) return "away";
    if (isFlat(style, box.width)) return "away";
    if (isFlat(style, box.height) || place <= 0) return box.height <= 1 && box.width <= 1 ? "away" : "folded";
    return style.fontSize === "0px" && element.childElementCount === 0 ? "away" : undefined;
  };
  return (element, mark) => {
    const parent = element.parentElement;
    if (/^(head|script|style|template|noscript|title|meta|link)$/.test(element.localName)) return gone.add(element);
    // Inside of an element without a box, and of a closed one, there are none.
    if (gone.has(parent) || (parent !== null && parent.localName === "details" && !parent.open)) return gone.add(element);
    const style = getComputedStyle(element);
    if (style.display === "none") return mark(gone.add(element) && "folded");
    if (style.visibility === "visible") {
      // It is seen in an element that isn't.
      for (let at = parent; at !== null && unseen.has(at); at = at.parentElement) unseen.get(at)();
      const way = wayOf(element, style);
      return way === undefined ? undefined : mark(way);
    }
    const isFirst = parent === null || !unseen.has(parent);
    unseen.set(element, isFirst ? mark("folded") : () => undefined);
  };
})()`;

/**
 * The document as text; in a document that is too long, its length. Elements with open shadow roots contain the part that a reader
 * sees, in `template` elements. `marked`: with marks at the elements that no reader sees.
 */
const expression = (marked: boolean): string => `(() => {
  const { doctype, documentElement: root } = document;
  if (root === null) return { html: "" };
  const shadowRoots = [];
  const marks = [];
  const frames = ${marked ? `[...document.querySelectorAll("iframe, frame")]` : "[]"};
  for (const frame of frames.slice(0, ${FRAMES_MAX})) {
    const inner = frame.contentDocument?.documentElement?.outerHTML ?? "";
    if (inner === "" || inner.length > ${FRAME_CHARACTERS_MAX}) continue;
    frame.setAttribute("${frameMark}", inner);
    marks.push(frame);
  }
  const look = ${marked ? hidingOf : "undefined"};
  let looks = 0;
  const mark = (element) => (way) => {
    element.setAttribute("${hiddenMark}", way);
    marks.push(element);
    return () => element.removeAttribute("${hiddenMark}");
  };
  const walkers = [document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)];
  for (let walker = walkers.pop(); walker !== undefined; walker = walkers.pop()) {
    for (let node = walker.currentNode; node !== null; node = walker.nextNode()) {
      if (look !== undefined && node.nodeType === 1 && (looks += 1) <= ${STYLES_MAX}) look(node, mark(node));
      const inner = node.shadowRoot;
      if (inner === null || inner === undefined) continue;
      shadowRoots.push(inner);
      walkers.push(document.createTreeWalker(inner, NodeFilter.SHOW_ELEMENT));
    }
  }
  const type = doctype === null ? "" : new XMLSerializer().serializeToString(doctype);
  const whole = root.outerHTML;
  const isSimple = shadowRoots.length === 0 || root.getHTML === undefined;
  const open = isSimple ? "" : whole.slice(0, whole.length - root.innerHTML.length - root.localName.length - 3);
  const content = isSimple ? whole : open + root.getHTML({ shadowRoots }) + "</" + root.localName + ">";
  for (const element of marks) element.removeAttribute("${hiddenMark}");
  for (const element of marks) element.removeAttribute("${frameMark}");
  const html = type + content;
  return html.length > ${HTML_CHARACTERS_MAX} ? { length: html.length } : { html };
})()`;

const answer = z.union([z.object({ html: z.string() }), z.object({ length: z.number() })]);

/**
 * The current document in UTF-8; with `marked`, elements that no reader sees have the attribute `hiddenMark`. Rejects with a
 * `BrowserError`, or for a page that never stands still.
 */
export async function readHtml(
  world: IsolatedWorld,
  deadline: Deadline,
  { marked = false }: { marked?: boolean } = {},
): Promise<Uint8Array> {
  for (let read = 1; ; read += 1) {
    try {
      const found = answer.parse(await deadline.bound(world.evaluate(expression(marked))));
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
