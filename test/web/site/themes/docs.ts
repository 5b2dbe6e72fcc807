/** Documentation as four generators write it. */
import { docusaurusCode, githubCode, mkdocsCode, sphinxCode } from "./highlight.ts";
import { type Theme, wholePage } from "./theme.ts";

const siblings = ["Installing Ferret", "Configuration", "The query language", "HTTP interface", "Backup and restore"];

function list(entries: readonly string[], item: (entry: string) => string): string {
  return entries.map((entry) => `<li>${item(entry)}</li>`).join("");
}

/** Headings with their permalinks, as each generator marks them. */
function anchored(html: string, anchor: (id: string) => string): string {
  return html.replaceAll(
    /<(h[23]) id="([^"]*)">([\s\S]*?)<\/\1>/g,
    (_, name: string, id: string, text: string) => `<${name} id="${id}">${text}${anchor(id)}</${name}>`,
  );
}

const docusaurus: Theme = {
  name: "docusaurus",
  section: "docs",
  extraBlocksMax: 0,
  forbidden: [
    "Skip to main content",
    "Edit this page",
    "On this page",
    "Last updated on",
    "Built with Docusaurus",
    "Next page",
  ],
  render: ({ title, html, path }) =>
    wholePage(
      `${title} | Ferret`,
      `<meta name="generator" content="Docusaurus v3.7.0"><meta name="description" content="Ferret: ${title}"><meta property="og:title" content="${title} | Ferret">`,
      `<body class="navigation-with-keyboard"><div id="__docusaurus"><div role="region" aria-label="Skip to main content"><a class="skipToContent_fXgn" href="#__docusaurus_skipToContent_fallback">Skip to main content</a></div>
<nav aria-label="Main" class="navbar navbar--fixed-top"><div class="navbar__inner"><a class="navbar__brand" href="/"><b>Ferret</b></a><a class="navbar__item navbar__link" href="/blog">Blog</a></div></nav>
<div class="main-wrapper"><div class="docsWrapper"><div class="docRoot"><aside class="theme-doc-sidebar-container"><nav aria-label="Docs sidebar" class="menu"><ul class="theme-doc-sidebar-menu menu__list">${list(siblings, (name) => `<a class="menu__link" href="/docs/x">${name} guide</a>`)}</ul></nav></aside>
<main class="docMainContainer"><div class="container"><div class="row"><div class="col docItemCol"><div class="docItemContainer"><article>
<nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs"><li class="breadcrumbs__item"><a aria-label="Home page" href="/"><svg></svg></a></li><li class="breadcrumbs__item--active"><span>${path}</span></li></ul></nav>
<div class="theme-doc-markdown markdown"><header></header>${anchored(docusaurusCode(html), (id) => `<a href="#${id}" class="hash-link" aria-label="Direct link" title="Direct link">&#8203;</a>`)}</div>
<footer class="theme-doc-footer docusaurus-mt-lg"><a href="https://github.com/ferret/x" class="theme-edit-this-page">Edit this page</a><span class="theme-last-updated">Last updated on <b>May 4, 2026</b></span></footer></article>
<nav class="pagination-nav" aria-label="Docs pages"><a class="pagination-nav__link" href="/n"><div class="pagination-nav__sublabel">Next page</div></a></nav></div></div>
<div class="col col--3"><div class="tableOfContents thin-scrollbar theme-doc-toc-desktop"><b>On this page</b><ul class="table-of-contents"><li><a href="#x" class="table-of-contents__link">Contents of it</a></li></ul></div></div></div></div></main></div></div></div>
<footer class="theme-layout-footer footer footer--dark"><div class="footer__copyright">Copyright 2026. Built with Docusaurus.</div></footer></div></body>`,
    ),
};

const sphinx: Theme = {
  name: "sphinx",
  section: "docs",
  extraBlocksMax: 0,
  forbidden: ["View page source", "Read the Docs", "Quick search", "next |", "Created using Sphinx"],
  render: ({ title, html }) =>
    wholePage(
      `${title} &mdash; Ferret 2.1 documentation`,
      `<meta name="generator" content="Docutils 0.21"><link rel="stylesheet" href="_static/pygments.css">`,
      `<body class="wy-body-for-nav"><div class="wy-grid-for-nav"><nav data-toggle="wy-nav-shift" class="wy-nav-side"><div class="wy-side-scroll"><div class="wy-side-nav-search"><a href="index.html" class="icon icon-home">Ferret</a><form action="search.html"><input type="text" placeholder="Quick search"></form></div><div class="wy-menu wy-menu-vertical" role="navigation"><ul>${list(siblings, (name) => `<a class="reference internal" href="x.html">${name} manual</a>`)}</ul></div></div></nav>
<section class="wy-nav-content-wrap"><div class="wy-nav-content"><div class="rst-content"><div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs"><li><a href="index.html" class="icon icon-home"></a></li><li class="wy-breadcrumbs-aside"><a href="_sources/x.rst.txt" rel="nofollow"> View page source</a></li></ul><hr></div>
<div role="main" class="document" itemscope="itemscope" itemtype="http://schema.org/Article"><div itemprop="articleBody"><section id="main">
${anchored(sphinxCode(html), (id) => `<a class="headerlink" href="#${id}" title="Link to this heading">¶</a>`).replace("</h1>", `<a class="headerlink" href="#main" title="Link to this heading">¶</a></h1>`)}
</section></div></div>
<footer><div class="rst-footer-buttons" role="navigation"><a href="b.html" class="btn btn-neutral float-right" rel="next">next |</a></div><hr><div role="contentinfo"><p>&#169; Copyright 2026. Created using Sphinx with a theme by Read the Docs.</p></div></footer></div></div></section></div></body>`,
    ),
};

const mkdocs: Theme = {
  name: "mkdocs",
  section: "docs",
  extraBlocksMax: 0,
  forbidden: ["Skip to content", "Table of contents", "Made with Material", "Back to top", "Edit on the forge"],
  render: ({ title, html }) =>
    wholePage(
      `${title} - Ferret`,
      `<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.6.1">`,
      `<body dir="ltr"><div data-md-component="skip"><a href="#x" class="md-skip">Skip to content</a></div><header class="md-header"><nav class="md-header__inner md-grid" aria-label="Header"><div class="md-header__topic"><span class="md-ellipsis">Ferret</span></div></nav></header>
<div class="md-container"><main class="md-main" data-md-component="main"><div class="md-main__inner md-grid"><div class="md-sidebar md-sidebar--primary"><nav class="md-nav md-nav--primary" aria-label="Navigation"><ul class="md-nav__list">${list(siblings, (name) => `<a href="../x/" class="md-nav__link"><span class="md-ellipsis">${name} handbook</span></a>`)}</ul></nav></div>
<div class="md-sidebar md-sidebar--secondary"><nav class="md-nav md-nav--secondary"><label class="md-nav__title">Table of contents</label><ul class="md-nav__list"><li><a href="#y" class="md-nav__link">Somewhere</a></li></ul></nav></div>
<div class="md-content" data-md-component="content"><article class="md-content__inner md-typeset"><a href="https://forge.example/edit" title="Edit on the forge" class="md-content__button md-icon"><svg></svg></a>
${anchored(mkdocsCode(html), (id) => `<a class="headerlink" href="#${id}" title="Permanent link">&para;</a>`)}
</article></div></div><button type="button" class="md-top md-icon" hidden>Back to top</button></main>
<footer class="md-footer"><div class="md-copyright">Made with Material for MkDocs</div></footer></div></body>`,
    ),
};

const github: Theme = {
  name: "github",
  section: "docs",
  extraBlocksMax: 0,
  languages: { bash: "shell", sh: "shell" },
  forbidden: [
    "Sign up for free",
    "Repository files navigation",
    "Contributors",
    "You signed in with another tab",
    "Terms of service",
  ],
  render: ({ title, html, path }) =>
    wholePage(
      `ferret/README.md at main · ferret/ferret`,
      `<meta property="og:site_name" content="GitHub"><meta property="og:type" content="object"><meta name="description" content="${title}">`,
      `<body class="logged-out env-production page-responsive"><header class="HeaderMktg"><a href="/signup" class="HeaderMktg-link">Sign up for free</a></header><div class="js-stale-session-flash flash" hidden><span>You signed in with another tab or window.</span></div>
<div class="application-main"><main id="js-repo-pjax-container"><div id="repository-container-header"><strong itemprop="name"><a href="/ferret/ferret">ferret</a></strong><span>${path}</span></div>
<div class="Layout Layout--sidebarPosition-end"><div class="Layout-main"><nav aria-label="Repository files"><h2 class="sr-only">Repository files navigation</h2><a href="#readme">README</a></nav>
<div class="Box-body"><article class="markdown-body entry-content container-lg" itemprop="text">${githubHeadings(githubCode(html))}</article></div></div>
<div class="Layout-sidebar"><h2>Contributors <span class="Counter">14</span></h2><ul class="list-style-none"><li><a href="/anna">anna</a></li></ul></div></div></main></div><footer class="footer"><a href="/terms">Terms of service</a></footer></body>`,
    ),
};

function githubHeadings(html: string): string {
  return html.replaceAll(
    /<(h[1-6])(?: id="([^"]*)")?>([\s\S]*?)<\/\1>/g,
    (_, name: string, id: string, text: string) =>
      `<div class="markdown-heading" dir="auto"><${name} tabindex="-1" class="heading-element" dir="auto">${text}</${name}><a id="user-content-${id}" class="anchor" aria-label="Permalink: ${id}" href="#${id}"><svg class="octicon octicon-link"></svg></a></div>`,
  );
}

export const docsThemes: readonly Theme[] = [docusaurus, sphinx, mkdocs, github];
