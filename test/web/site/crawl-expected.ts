/**
 * The list that a correct crawl of the crawl site finds, written by hand. `{1-6}` stands for each number; a page has one
 * address here, whatever other addresses it answers at.
 */

/** Everything that is linked or listed, and may be read. */
export const everything: readonly string[] = expand([
  "/",
  "/docs/",
  "/docs/chapter-{1-6}/",
  "/docs/chapter-{1-6}/page-{1-15}",
  "/blog/",
  "/blog/?page={2-8}",
  "/blog/post-{1-80}",
  "/shop/",
  "/shop/shelf-{1-5}/",
  "/shop/shelf-{1-5}/item-{1-12}",
  "/wiki/",
  "/wiki/entry-{1-40}",
  "/wiki/view?id=7&lang=en",
  "/wiki/%C3%A4pfel",
  "/deep/1",
  "/deep/{2-30}",
  "/orphans/{1-10}",
  "/private/open",
  "/files/report.pdf",
]);

/** Without the sitemap: nothing links to the orphans. */
export const linkedOnly: readonly string[] = everything.filter((path) => !path.startsWith("/orphans/"));

/** With `includePaths: ["^/docs/"]`; the start itself is read for its links only. */
export const docsOnly: readonly string[] = expand([
  "/docs/",
  "/docs/chapter-{1-6}/",
  "/docs/chapter-{1-6}/page-{1-15}",
]);

/** With `excludePaths: ["^/blog", "^/shop"]`. */
export const withoutBlogAndShop: readonly string[] = everything.filter((path) => !/^\/(blog|shop)/.test(path));

/** Not more than two links away from the start, without the sitemap. */
export const nearTheStart: readonly string[] = expand([
  "/",
  "/docs/",
  "/docs/chapter-{1-6}/",
  "/blog/",
  "/blog/?page={2-8}",
  "/blog/post-{1-10}",
  "/shop/",
  "/shop/shelf-{1-5}/",
  "/wiki/",
  "/wiki/entry-{1-40}",
  "/wiki/view?id=7&lang=en",
  "/wiki/%C3%A4pfel",
  "/deep/{1-2}",
  "/private/open",
  "/files/report.pdf",
]);

/** Linked, but forbidden by robots.txt. */
export const forbiddenByRobots: readonly string[] = expand(["/private/{1-10}"]);

/** Linked, but not to be had. The slow one sends a byte a second. */
export const failing: readonly string[] = [
  "/errors/500",
  "/errors/cut",
  "/errors/slow",
  "/errors/loop",
  "/files/picture.png",
];

/** Linked and missing: a page with the status 404. */
export const missing: readonly string[] = ["/errors/404", "/errors/gone"];

/** On the partner's host, which a crawl reads only if it may leave the site. */
export const atThePartner: readonly string[] = expand(["/", "/partner-{1-5}"]);

/**
 * Traps without an end: calendars, session ids in paths, and paths that repeat themselves. A crawl may read some of each,
 * and has to stop.
 */
export const traps: readonly RegExp[] = [/^\/calendar\//, /^\/s\/[0-9a-f]+\//, /^\/again\//];

/** Replaces each `{a-b}` by the numbers from a to b. */
function expand(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern): string[] => {
    const [range, from, to] = /\{(\d+)-(\d+)\}/.exec(pattern) ?? [];
    if (range === undefined) return [pattern];
    const numbers = Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index);
    return expand(numbers.map((number) => pattern.replace(range, String(number))));
  });
}
