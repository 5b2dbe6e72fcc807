import { gzipSync } from "node:zlib";
import { type PdfLine, writePdf } from "../shared/pdf.ts";
import { escapeHtml, type Shown } from "./layout.ts";
import { pagesOf, sitePages } from "./pages.ts";

/** A page that nothing but its script fills, for browsers. */
export const livePage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Live readings | Brindlewick</title>
<meta name="description" content="The last readings of the station behind our workshop.">
<link rel="stylesheet" href="/assets/site.css">
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
</head>
<body>
<div id="app"></div>
<script type="module" src="/assets/live.js"></script>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;

/** The readings that the live page shows. */
export const readings = {
  station: "Brindle Weir",
  readings: [
    { hour: "06:00", temperature_c: 6.2, rain_mm: 0, wind_ms: 0.8 },
    { hour: "07:00", temperature_c: 7.4, rain_mm: 0.2, wind_ms: 1.1 },
    { hour: "08:00", temperature_c: 9.1, rain_mm: 1.4, wind_ms: 2.6 },
    { hour: "09:00", temperature_c: 10.3, rain_mm: 0.6, wind_ms: 2.2 },
  ],
};

/** The pages that crawlers may read. */
export function robotsText({ origin }: Shown): string {
  return `User-agent: *\nDisallow: /account/\nAllow: /\n\nSitemap: ${origin}/sitemap.xml\n`;
}

/** The index of the two sitemaps; the second one is compressed. */
export function sitemapIndex({ origin }: Shown): string {
  const maps = ["/sitemaps/pages.xml", "/sitemaps/sections.xml.gz"];
  const entries = maps.map((path) => `<sitemap><loc>${origin}${path}</loc></sitemap>`);
  return `${xmlHead}<sitemapindex xmlns="${sitemapSpace}">\n${entries.join("\n")}\n</sitemapindex>\n`;
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>\n`;
const sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9";

/** The overviews, the pages outside of all sections, and the documents. */
export function pagesSitemap(shown: Shown): string {
  const paths = sitePages().filter(({ section, path }) => section === "" || path.endsWith("/"));
  return sitemapOf(
    [...paths, { path: "/live", date: null }, { path: "/files/bw-200-datasheet.pdf", date: null }],
    shown,
  );
}

/** All other pages. */
export function sectionsSitemap(shown: Shown): Buffer {
  const paths = sitePages().filter(({ section, path }) => section !== "" && !path.endsWith("/"));
  return gzipSync(sitemapOf(paths, shown));
}

function sitemapOf(pages: readonly { path: string; date: string | null }[], { origin }: Shown): string {
  const entries = pages.map(({ path, date }) => {
    const day = date === null ? "" : `<lastmod>${date}</lastmod>`;
    return `<url><loc>${origin}${path}</loc>${day}</url>`;
  });
  return `${xmlHead}<urlset xmlns="${sitemapSpace}">\n${entries.join("\n")}\n</urlset>\n`;
}

/** The blog as RSS 2.0. */
export function feed({ origin }: Shown): string {
  const items = pagesOf("blog").map(({ path, title, description, date }) => {
    const day = new Date(`${date ?? ""}T08:00:00Z`).toUTCString();
    return `<item><title>${escapeHtml(title)}</title><link>${origin}${path}</link><guid>${origin}${path}</guid><pubDate>${day}</pubDate><description>${escapeHtml(description)}</description></item>`;
  });
  return `${xmlHead}<rss version="2.0"><channel><title>Brindlewick</title><link>${origin}/</link><description>Weather stations for gardens</description>\n${items.join("\n")}\n</channel></rss>\n`;
}

const sheet: readonly (readonly string[])[] = [
  [
    "The BW-200 measures temperature, humidity, rain and wind once a minute and keeps",
    "the readings on a memory card. It needs no connection to the internet.",
    "",
    "* Limits",
    "Temperature: -30 to 60 °C, tolerance 0.2 °C",
    "Humidity: 0 to 100 %, tolerance 3 %",
    "Rain: up to 300 mm per hour, tolerance 3 %",
    "Wind: 0.4 to 50 m/s, tolerance 0.3 m/s",
    "",
    "* Power",
    "Six batteries of type AA (alkaline or lithium) last two years. The station takes",
    "5 V from a USB-C plug as well, and changes between the two without a gap.",
  ],
  [
    "* Materials",
    "Case and shield: ASA, stable in sunlight for at least ten years",
    "Pole and ground spike: galvanised steel",
    "Bucket: polypropylene with a gold-plated contact",
    "",
    "* Contents of the box",
    "Station, pole of 1.8 m, ground spike, spirit level, memory card of 32 GB,",
    "six batteries, and a printed quick start.",
    "",
    "Brindlewick Instruments, The Old Mill, Brindle Weir. Revision 7, January 2026.",
  ],
];

/** The data sheet of the BW-200: two pages. */
export function dataSheet(): Buffer {
  const title = "BW-200 weather station: data sheet";
  const pages = sheet.map((lines, index): PdfLine[] => {
    const heading = {
      text: index === 0 ? title : "BW-200: materials and contents",
      x: 56,
      y: 770,
      size: 20,
      bold: true,
    };
    return [heading, ...lines.map((text, row) => sheetLine(text, 730 - row * 20))];
  });
  return writePdf(pages, title);
}

function sheetLine(text: string, y: number): PdfLine {
  return text.startsWith("* ") ? { text: text.slice(2), x: 56, y, size: 14, bold: true } : { text, x: 56, y, size: 11 };
}
