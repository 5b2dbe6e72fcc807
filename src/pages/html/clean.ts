import { type ChildNode, type Element, isComment, isDirective, isTag, type ParentNode } from "domhandler";
import { adopt } from "./adopt.ts";

/** Elements without content for a reader. `noscript` is text to the parser; its images are found by the list of images. */
const silent = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "link",
  "meta",
  "base",
  "object",
  "embed",
  "applet",
  "canvas",
  "head",
  "noframes",
  "param",
]);

/** Boxes that ask for consent, by the vendors' own ids and classes: they lie over the page and are no part of it. */
const consentBoxes =
  /^(onetrust-(consent-sdk|banner-sdk)|CybotCookiebotDialog(BodyUnderlay)?|usercentrics-root|didomi-host|truste-consent-track|cookie-?(banner|consent|notice|bar|law-info-bar)|gdpr-?(banner|consent|cookie-notice)|cmplz-cookiebanner-container|cc-window|qc-cmp2-container|sp_message_container_\d+|iubenda-cs-banner|moove_gdpr_cookie_info_bar|termly-code-snippet-support|osano-cm-window|klaro|eu-cookie-compliance-banner|BorlabsCookieBox|CookieConsent)$/i;

/** Removes the parts that are no content: scripts, styles, comments, boxes that ask for consent. In place. */
export function clean(root: ParentNode): void {
  const waiting: ParentNode[] = [root];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    const kept = parent.children.filter((child) => isSeen(child));
    if (kept.length < parent.children.length) adopt(parent, kept);
    for (const child of kept) if (isTag(child)) waiting.push(child);
  }
}

function isSeen(node: ChildNode): boolean {
  if (isComment(node) || isDirective(node)) return false;
  if (!isTag(node)) return true;
  if (isFormula(node)) return true;
  return !silent.has(node.name) && !isConsentBox(node);
}

function isConsentBox({ attribs: { id, class: classes } }: Element): boolean {
  if (id !== undefined && consentBoxes.test(id)) return true;
  return classes !== undefined && classes.split(/\s+/).some((one) => consentBoxes.test(one));
}

/** MathJax 2 keeps the source of a formula in a script; others hide it beside its picture. */
function isFormula({ name, attribs, children }: Element): boolean {
  if (name === "script") return /^math\/(tex|mml)/i.test(attribs["type"] ?? "");
  return name === "math" || (/mwe-math|mathml/i.test(attribs["class"] ?? "") && children.some((child) => isTag(child)));
}
