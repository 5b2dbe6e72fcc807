/** Redirects of every kind. All harmless ones lead to `/docusaurus/install`. */
import { redirect, type Route, send, sendHtml } from "./server.ts";

const target = "/docusaurus/install";

/** The number of redirects in `/redirect/chain`, and in one that is too long for everybody. */
const chainLength = 5;
const longChainLength = 60;

function chain(name: string, length: number): [string, Route][] {
  return Array.from({ length }, (_, index): [string, Route] => {
    const next = index === length - 1 ? target : `/redirect/${name}/${index + 1}`;
    return [
      index === 0 ? `/redirect/${name}` : `/redirect/${name}/${index}`,
      redirect(next, index % 2 === 0 ? 301 : 302),
    ];
  });
}

/** Redirects that end well. */
export const goodRedirects: Readonly<Record<string, Route>> = {
  "/redirect/moved": redirect(target, 301),
  "/redirect/see-other": redirect(target, 303),
  "/redirect/temporary": redirect(target, 307),
  "/redirect/permanent": redirect(target, 308),
  "/redirect/relative": redirect("../docusaurus/install", 302),
  "/redirect/relative-deep/": redirect("../../docusaurus/./x/../install", 302),
  "/redirect/no-scheme": redirect(({ origin }) => `${origin.slice("http:".length)}${target}`, 302),
  "/redirect/fragment": redirect(`${target}#requirements`, 302),
  "/redirect/meta": sendHtml(
    `<!doctype html><html><head><meta http-equiv="refresh" content="0; url=${target}"><title>Moved</title></head><body><p>This page has moved.</p></body></html>`,
  ),
  "/redirect/refresh": send("Moved", { "content-type": "text/html", refresh: `0; url=${target}` }),
  ...Object.fromEntries(chain("chain", chainLength)),
};

/** Redirects that must not be followed to their end. */
export const badRedirects: Readonly<Record<string, Route>> = {
  "/redirect/loop": redirect("/redirect/loop-back"),
  "/redirect/loop-back": redirect("/redirect/loop"),
  "/redirect/itself": redirect("/redirect/itself"),
  "/redirect/endless": redirect(({ url }) => `/redirect/endless?n=${Number(url.searchParams.get("n") ?? 0) + 1}`),
  "/redirect/metadata-service": redirect("http://169.254.169.254/latest/meta-data/"),
  "/redirect/private": redirect("http://10.0.0.1/"),
  "/redirect/other-port": redirect("http://127.0.0.1:1/"),
  "/redirect/ipv6": redirect("http://[::1]:1/"),
  "/redirect/decimal": redirect("http://2130706433:1/"),
  "/redirect/localhost": redirect("http://localhost:1/"),
  "/redirect/file": redirect("file:///etc/passwd"),
  "/redirect/data": redirect("data:text/html,<h1>no</h1>"),
  "/redirect/script": redirect("javascript:alert(1)"),
  "/redirect/nowhere": redirect(""),
  "/redirect/malformed": redirect("http://[::/"),
  "/redirect/meta-private": sendHtml(
    `<!doctype html><html><head><meta http-equiv="refresh" content="0; url=http://169.254.169.254/"><title>Moved</title></head><body></body></html>`,
  ),
  "/redirect/refresh-private": send("Moved", {
    "content-type": "text/html",
    refresh: "0; url=http://169.254.169.254/",
  }),
  ...Object.fromEntries(chain("long-chain", longChainLength)),
};
