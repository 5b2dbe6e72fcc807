import type { Document } from "domhandler";
import type { PageDoubt } from "../page.ts";
import { elementsOf } from "./walk.ts";

/** Characters of a page up to which it can be a check for robots, or one that waits for its scripts. */
const checkCharactersMax = 1_500;
const waitingCharactersMax = 300;
const templateCharactersMax = 3_000;

/** Places that scripts have not filled, from which on a page is a template. */
const placeholdersMin = 3;

/** Titles of the pages that services put before a site, to tell its readers from robots. */
const checkTitles =
  /^(just a moment|attention required|checking (your|the) browser|one moment, please|access (denied|to this page has been denied)|(please )?verify(ing)? (that )?you are (a )?human|are you (a robot|human)|security (check|verification)|ddos-guard|pardon our interruption|robot (check|or human)|bot verification|client challenge|human verification|vercel security checkpoint|un momento|einen moment|nur einen moment|un instant)/i;

/** Their scripts and elements. Boxes that forms have too are none of them. */
const checkMarks =
  /\/cdn-cgi\/challenge-platform\/|cf-chl|challenge-error-text|captcha-delivery\.com|px-captcha|_incapsula_resource|awswaf\.com|ddos-guard\/|sec-if-cpt|\/_sec\/cp_challenge\//i;

/** The only text of a page until its scripts have run. */
const waiting =
  /^\W*(loading|please wait|wird geladen|bitte warten|chargement|veuillez patienter|cargando|espere|caricamento|attendere|carregando|laden|ładowanie|загрузка|подождите|読み込み中|加载中|로딩)/iu;

/** Whether a page bears a mark of a check for robots. To be asked before the page is taken apart. */
export function hasCheckMark(document: Document): boolean {
  for (const { name, attribs } of elementsOf(document)) {
    const address =
      name === "script" || name === "iframe" || name === "form" ? (attribs["src"] ?? attribs["action"]) : undefined;
    if (checkMarks.test(`${address ?? ""} ${attribs["id"] ?? ""} ${attribs["class"] ?? ""}`)) return true;
  }
  return false;
}

/** The doubt about the text of a page, if there is any. */
export function doubtOf(
  markdown: string,
  { title, isMarked }: { title: string; isMarked: boolean },
): PageDoubt | undefined {
  const isShort = markdown.length <= checkCharactersMax;
  if (isShort && (isMarked || checkTitles.test(title.trim()))) return "challenge";
  const text = markdown.replaceAll(/!?\[([^\][]*)\]\([^()]*\)/g, "$1");
  if (!/[\p{L}\p{N}]/u.test(text)) return "empty";
  if (text.length <= waitingCharactersMax && waiting.test(text)) return "unfilled";
  return text.length <= templateCharactersMax && isTemplate(text) ? "unfilled" : undefined;
}

/** Code shows such places on purpose. */
function isTemplate(text: string): boolean {
  const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1|`[^`\n]*`/gm, "");
  return [...prose.matchAll(/\{\{[^{}\n]{1,80}\}\}|\{%[^%\n]{1,80}%\}/g)].length >= placeholdersMin;
}
