/** Links in a text. */
const linksMax = 100_000;

/** The addresses on the web that a text mentions, in its order, each once, without fragments. */
export function linksIn(text: string): string[] {
  const links = new Set<string>();
  for (const [found] of text.matchAll(/https?:\/\/[^\s<>"'`\\|]{3,2000}/g)) {
    if (links.size >= linksMax) break;
    const url = URL.parse(found.replace(/[).,;:!?\]}*]+$/, ""));
    if (url === null) continue;
    url.hash = "";
    links.add(url.href);
  }
  return [...links];
}
