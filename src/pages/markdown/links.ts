import { type Element, isTag } from "domhandler";
import { escapeAddress, escapeLinkText, escapeTitle, markText } from "./escape.ts";

/** A text as a link; spaces at its edges stay outside. */
export function linked(text: string, href: string, title: string | undefined): string {
  const inner = text.replaceAll(/\s*\n\s*/g, " ").trim();
  if (inner === "") return text === "" ? "" : " ";
  const leading = /^\s/.test(text) ? " " : "";
  const trailing = /\s$/.test(text) ? " " : "";
  const named = title === undefined || title.trim() === "" || title.trim() === inner ? "" : ` "${escapeTitle(title)}"`;
  return `${leading}[${escapeLinkText(inner)}](${escapeAddress(href)}${named})${trailing}`;
}

/** Sounds, videos and documents that are part of a page, as links. A frame without a title is one if a known player is in it. */
export function writeFrame({ name, attribs, children }: Element): string {
  const inner = children.filter(isTag).find((child) => child.name === "source");
  const source = attribs["src"] ?? inner?.attribs["src"];
  if (source === undefined || !/^https?:/i.test(source)) return "";
  const title = markText((attribs["title"] ?? attribs["aria-label"] ?? "").trim().slice(0, titleCharactersMax), false);
  const isNamed = name !== "iframe" || title !== "";
  const address = name === "iframe" ? (watchAddress(source) ?? (isNamed ? source : undefined)) : source;
  return address === undefined ? "" : linked(title || (name === "audio" ? "Audio" : "Video"), address, undefined);
}

/** Characters of the title of a frame. */
const titleCharactersMax = 300;

function watchAddress(source: string): string | undefined {
  const youtube = /youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(source)?.[1];
  if (youtube !== undefined) return `https://www.youtube.com/watch?v=${youtube}`;
  const vimeo = /player\.vimeo\.com\/video\/(\d+)/.exec(source)?.[1];
  if (vimeo !== undefined) return `https://vimeo.com/${vimeo}`;
  return /dailymotion\.com|wistia\.(com|net)|loom\.com|twitch\.tv|bilibili\.com|ted\.com|vidyard\.com|brightcove/.test(
    source,
  )
    ? source
    : undefined;
}
