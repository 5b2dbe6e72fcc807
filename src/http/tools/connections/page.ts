/** The pages on which people connect accounts: plain HTML without a script. */
import { createHash } from "node:crypto";
import { pageHeaders } from "../../page-headers.ts";

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
body { margin: 0 auto; max-width: 26rem; padding: 10vh 1.25rem 2rem; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .75rem; }
p, form { margin: 0 0 1rem; }
label { display: block; font-weight: 600; margin: 0 0 .25rem; }
input { box-sizing: border-box; width: 100%; font: inherit; padding: .5rem .6rem; margin: 0 0 1rem; border: 1px solid GrayText; border-radius: .4rem;
  background: Field; color: FieldText; }
button, .go { display: inline-block; font: inherit; font-weight: 600; padding: .55rem 1rem; border: 0; border-radius: .4rem; cursor: pointer;
  background: light-dark(#1d4ed8, #93b4ff); color: light-dark(#fff, #0b1220); text-decoration: none; }
a { color: light-dark(#1d4ed8, #93b4ff); }
a.go { color: light-dark(#fff, #0b1220); }
:focus-visible { outline: 3px solid light-dark(#1d4ed8, #93b4ff); outline-offset: 2px; }
.error { border-left: 4px solid light-dark(#b91c1c, #fca5a5); padding-left: .75rem; }
small { color: light-dark(#4b5563, #b6bdc9); }
`;

const styleSource = `'sha256-${createHash("sha256").update(style).digest("base64")}'`;

/** HTML that needs no more escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template of HTML: values are escaped unless they are HTML themselves. Undefined is nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly (string | Html | undefined)[]): Html {
  const texts = values.map((value) => (value instanceof Html ? value.text : escapeHtml(value ?? "")));
  return new Html(strings.map((text, at) => text + (texts[at] ?? "")).join(""));
}

const signs: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => signs[sign] ?? sign);
}

/** The policy permits exactly this text. */
const styleElement = new Html(`<style>${style}</style>`);

interface ShownPage {
  title: string;
  content: Html;
  status?: number;
  cookies?: readonly string[];
}

export function pageResponse({ title, content, status = 200, cookies = [] }: ShownPage): Response {
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Tollgate</title>
        ${styleElement}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
  const headers = new Headers({ ...pageHeaders({ "style-src": styleSource }, "'self'"), "cache-control": "no-store" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(whole.text, { status, headers });
}
