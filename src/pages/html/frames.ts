import type { Document, Element } from "domhandler";
import { frameMark } from "../page.ts";
import { makeAbsolute } from "./absolute.ts";
import { adopt } from "./adopt.ts";
import { AddressResolver } from "./base-url.ts";
import { dropHidden } from "./hidden/index.ts";
import { parseHtml } from "./parse.ts";
import { elementsOf } from "./walk.ts";

/** Frames of one page whose content is a part of it, and characters of one. */
const framesMax = 5;
const frameCharactersMax = 2 * 1024 * 1024;

/**
 * Puts the documents of frames in their places: those that the page has in an attribute, those that the browser has shown, and those of
 * `known`, by their addresses.
 * @returns the addresses of frames of the page's own origin that are not known.
 */
export function openFrames(
  document: Document,
  { addresses, pageUrl, known }: { addresses: AddressResolver; pageUrl: string; known: ReadonlyMap<string, string> },
): string[] {
  const missing = new Set<string>();
  let count = 0;
  for (const frame of [...elementsOf(document)].filter(({ name }) => name === "iframe" || name === "frame")) {
    if (count >= framesMax) break;
    const source = frame.attribs["src"];
    const address = source === undefined ? undefined : addresses.web(source);
    const isOwn = address !== undefined && isSameOrigin(address, pageUrl);
    const content = frame.attribs[frameMark] ?? frame.attribs["srcdoc"] ?? (isOwn ? known.get(address) : undefined);
    if (content !== undefined) fill(frame, content, isOwn ? new AddressResolver(address) : addresses);
    else if (isOwn && address !== pageUrl) missing.add(address);
    else continue;
    count += 1;
  }
  return [...missing];
}

function fill(frame: Element, content: string, addresses: AddressResolver): void {
  const inner = parseHtml(content.slice(0, frameCharactersMax));
  dropHidden(inner);
  makeAbsolute(inner, { addresses, removeBase64Images: false });
  frame.name = "div";
  frame.attribs = {};
  const body = [...elementsOf(inner, ({ name }) => name === "html")].find(({ name }) => name === "body");
  adopt(frame, body?.children ?? []);
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.parse(one)?.origin === URL.parse(other)?.origin;
}
