/** Pages that a browser has to render, and pages that only look like it. */
import { type Route, send, sendHtml } from "./server.ts";

export interface ScriptedPage {
  readonly path: string;
  readonly route: Route;
  /** Texts that are there after its script has run. */
  readonly contains: readonly string[];
  /** Whether the text is missing from the HTML itself. */
  readonly needsBrowser: boolean;
}

const shell = (title: string, script: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript><script>${script}</script></body></html>`;

const article = (title: string): string =>
  `<article><h1>${title}</h1><p>This paragraph was written by a script. Without a browser there is nothing to be read here, and a reader that does not notice returns an empty page.</p><p>Its length is that of an ordinary text, so that it is taken for the content of the page and not for a message about something else.</p></article>`;

const paragraph = "This paragraph was written by a script.";

/** All of them, below `/app/`, with the data that one of them fetches. */
export function scriptedPages(): ScriptedPage[] {
  const put = (title: string): string => `document.getElementById("root").innerHTML=${JSON.stringify(article(title))};`;
  return [
    page("at-once", shell("Rendered at once", put("Rendered at once")), ["# Rendered at once", paragraph]),
    page("late", shell("Rendered late", `setTimeout(()=>{${put("Rendered late")}},300);`), [
      "# Rendered late",
      paragraph,
    ]),
    page("later", shell("Rendered later", `setTimeout(()=>{${put("Rendered later")}},1500);`), [
      "# Rendered later",
      paragraph,
    ]),
    page(
      "fetched",
      shell(
        "Rendered from data",
        `fetch("/app/data.json").then(r=>r.json()).then(d=>{document.getElementById("root").innerHTML="<main><h1>"+d.title+"</h1><p>"+d.text+"</p></main>"});`,
      ),
      ["# Rendered from data", "Forty-two boats passed the lock"],
    ),
    page(
      "on-click",
      shell(
        "Rendered on a click",
        `const b=document.createElement("button");b.id="more";b.textContent="More";b.onclick=()=>{${put("Rendered on a click")}};document.getElementById("root").append(b);`,
      ),
      ["# Rendered on a click", paragraph],
    ),
    page(
      "broken",
      shell("Taken away", `document.body.replaceChildren();`).replace(
        "<noscript>",
        `<p>${"The page had a text before its script failed, and a reader is to get it. ".repeat(4)}</p><noscript>`,
      ),
      ["before its script failed"],
    ),
    {
      ...page(
        "hydrated",
        shell("Rendered by the server", "void 0;").replace(
          `<div id="root"></div>`,
          `<div id="root">${article("Rendered by the server")}</div>`,
        ),
        ["# Rendered by the server", paragraph],
      ),
      needsBrowser: false,
    },
  ];
}

function page(name: string, html: string, contains: readonly string[]): ScriptedPage {
  return { path: `/app/${name}`, route: sendHtml(html), contains, needsBrowser: true };
}

/** The data of `/app/fetched`. */
export const scriptedData: Route = send(
  JSON.stringify({
    title: "Rendered from data",
    text: "Forty-two boats passed the lock on Sunday, more than on any other day of the year so far.",
  }),
  "application/json",
);
