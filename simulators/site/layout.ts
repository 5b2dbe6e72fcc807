import { asArray, stringOr } from "../shared/json.ts";
import { pagesOf, postsOf, type Section, type SitePage, specsOf } from "./pages.ts";

/** The origin that a page is shown at: its scheme and host, without a slash at the end. */
export interface Shown {
  readonly origin: string;
}

const siteName = "Brindlewick";

/** A whole HTML page of the site. */
export function renderPage(page: SitePage, { origin }: Shown): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${headOf(page, origin)}
<link rel="stylesheet" href="/assets/site.css">
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="alternate" type="application/rss+xml" title="${siteName}" href="/feed.xml">
</head>
<body>
<header>
<a class="logo" href="/">${siteName}</a>
<nav><a href="/shop/">Shop</a><a href="/docs/">Documentation</a><a href="/blog/">Blog</a><a href="/forum/">Forum</a><a href="/live">Live</a></nav>
</header>
<div class="columns">
${sidebarOf(page)}<main>
${contentOf(page, origin)}
</main>
</div>
<footer>© 2026 ${siteName} Instruments, a fictitious company. <a href="/about">About us</a> · <a href="/privacy">Privacy</a></footer>
</body>
</html>
`;
}

function headOf({ path, title, description, section, front, date }: SitePage, origin: string): string {
  const image = stringOr(front["image"], "/assets/station.svg");
  const author = stringOr(front["author"], "");
  return [
    `<title>${escapeHtml(path === "/" ? `${siteName}: ${title}` : `${title} | ${siteName}`)}</title>`,
    `<meta name="description" content="${escapeHtml(description)}">`,
    `<link rel="canonical" href="${origin}${path}">`,
    `<meta property="og:title" content="${escapeHtml(title)}">`,
    `<meta property="og:description" content="${escapeHtml(description)}">`,
    `<meta property="og:type" content="${ogTypes[section]}">`,
    `<meta property="og:site_name" content="${siteName}">`,
    `<meta property="og:url" content="${origin}${path}">`,
    `<meta property="og:image" content="${origin}${image}">`,
    ...(author === "" ? [] : [`<meta name="author" content="${escapeHtml(author)}">`]),
    ...(date === null ? [] : [`<meta property="article:published_time" content="${date}T08:00:00Z">`]),
    ...asArray(front["tags"]).map((tag) => `<meta property="article:tag" content="${escapeHtml(String(tag))}">`),
  ].join("\n");
}

const ogTypes: Record<Section, string> = {
  "": "website",
  docs: "website",
  blog: "article",
  shop: "product",
  forum: "website",
};

function sidebarOf({ section }: SitePage): string {
  if (section !== "docs") return "";
  return `<aside class="sidebar"><ul>${pagesOf("docs").map(itemOf).join("")}</ul></aside>\n`;
}

function itemOf({ path, title }: SitePage): string {
  return `<li><a href="${path}">${escapeHtml(title)}</a></li>`;
}

function contentOf(page: SitePage, origin: string): string {
  if (page.path.endsWith("/")) return `<article>\n${markdownHtml(page.markdown)}${listOf(page)}</article>`;
  if (page.section === "blog") return articleOf(page);
  if (page.section === "shop") return productOf(page, origin);
  if (page.section === "forum") return threadOf(page);
  return `<article>\n${markdownHtml(page.markdown)}</article>`;
}

/** The list of a section's pages on its overview. */
function listOf({ section }: SitePage): string {
  if (section === "" || section === "docs") return "";
  const entries = pagesOf(section).map(({ path, title, description, date, front }) => {
    const price = typeof front["price"] === "number" ? `<p class="price">€ ${front["price"].toFixed(2)}</p>` : "";
    const day = date === null ? "" : `<p class="byline"><time datetime="${date}">${date}</time></p>`;
    return `<li><h2><a href="${path}">${escapeHtml(title)}</a></h2>${day}<p>${escapeHtml(description)}</p>${price}</li>`;
  });
  return `<ul class="cards">\n${entries.join("\n")}\n</ul>\n`;
}

function articleOf({ markdown, front, date }: SitePage): string {
  const byline = `<p class="byline">By <span rel="author">${escapeHtml(stringOr(front["author"], ""))}</span>, <time datetime="${date ?? ""}">${date ?? ""}</time></p>`;
  const html = markdownHtml(markdown).replace("</h1>", `</h1>\n${byline}`);
  return `<article>\n${html}</article>\n<aside><h2>More from the blog</h2><ul>${pagesOf("blog").map(itemOf).join("")}</ul></aside>`;
}

function productOf(page: SitePage, origin: string): string {
  const { title, description, front } = page;
  const price = Number(front["price"]).toFixed(2);
  const inStock = front["inStock"] === true;
  const image = stringOr(front["image"], "");
  const rows = specsOf(page).map(
    ([name, value]) => `<tr><th>${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  const data = {
    "@context": "https://schema.org",
    "@type": "Product",
    name: title,
    description,
    sku: front["sku"],
    image: origin + image,
    brand: { "@type": "Brand", name: siteName },
    aggregateRating: { "@type": "AggregateRating", ratingValue: front["rating"], reviewCount: front["reviews"] },
    offers: {
      "@type": "Offer",
      price,
      priceCurrency: "EUR",
      availability: `https://schema.org/${inStock ? "InStock" : "OutOfStock"}`,
      url: origin + page.path,
    },
  };
  const stock = inStock ? `<p class="stock">In stock</p>` : `<p class="sold-out">Sold out</p>`;
  const text = markdownHtml(page.markdown).replace("</h1>", `</h1>\n<img src="${image}" alt="${escapeHtml(title)}">`);
  return `<nav class="crumbs"><a href="/">Home</a> › <a href="/shop/">Shop</a></nav>
<article>
${text}<p class="price">€ ${price}</p>
${stock}
<h2>Specifications</h2>
<table>
<tbody>
${rows.join("\n")}
</tbody>
</table>
</article>
<script type="application/ld+json">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>`;
}

function threadOf(page: SitePage): string {
  const posts = postsOf(page).map(
    ({ author, date, text }, index) =>
      `<section class="post" id="post-${index + 1}"><p class="byline"><strong>${escapeHtml(author)}</strong>, <time datetime="${date}">${date.slice(0, 10)}</time></p>\n${markdownHtml(text)}</section>`,
  );
  return `<article>\n<h1>${escapeHtml(page.title)}</h1>\n${posts.join("\n")}\n</article>`;
}

function markdownHtml(markdown: string): string {
  return Bun.markdown.html(markdown, { headings: { ids: true } });
}

/** Text as it stands in HTML, also within a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
