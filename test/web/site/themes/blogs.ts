/** Blogs as four systems write them. */
import { brushCode, chromaCode, hljsCode, lineTableCode } from "./highlight.ts";
import { type Theme, wholePage, withoutHeading } from "./theme.ts";

const authors = ["Nora Feld", "Samir Haddad", "Lena Brandt", "Oskar Lind", "Mei Tanaka"];

function authorOf(index: number): string {
  return authors[index % authors.length] ?? "";
}

function dateOf(index: number): string {
  return `2026-0${(index % 6) + 1}-1${index % 9}`;
}

const comments = `<div id="comments" class="comments-area"><h2 class="comments-title">3 thoughts on this post</h2><ol class="comment-list"><li class="comment"><div class="comment-content"><p>First! Great write-up as always, greetings from a reader.</p></div></li></ol><div id="respond" class="comment-respond"><h3>Leave a Reply</h3><form><textarea></textarea></form></div></div>`;

const wordpress: Theme = {
  name: "wordpress",
  section: "blog",
  extraBlocksMax: 3,
  forbidden: ["Leave a Reply", "Proudly powered by WordPress", "Recent Posts", "Share this", "Archives"],
  render: ({ title, html, index }) =>
    wholePage(
      `${title} &#8211; Notes from the north`,
      `<meta name="generator" content="WordPress 6.8"><meta property="og:type" content="article"><meta property="article:published_time" content="${dateOf(index)}T09:12:00+00:00"><meta name="author" content="${authorOf(index)}">`,
      `<body class="post-template-default single single-post"><div id="page" class="site"><header id="masthead" class="site-header"><p class="site-title"><a href="/" rel="home">Notes from the north</a></p><nav id="site-navigation" class="main-navigation"><ul class="menu"><li class="menu-item"><a href="/about">About the author</a></li></ul></nav></header>
<div id="content" class="site-content"><div id="primary" class="content-area"><main id="main" class="site-main"><article id="post-12${index}" class="post type-post status-publish hentry category-notes">
<header class="entry-header"><h1 class="entry-title">${title}</h1><div class="entry-meta"><span class="posted-on"><time class="entry-date published" datetime="${dateOf(index)}">${dateOf(index)}</time></span><span class="byline"> by <span class="author vcard"><a class="url fn n" href="/author/x">${authorOf(index)}</a></span></span></div></header>
<div class="entry-content">${brushCode(withoutHeading(html))}<div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">Share this:</h3><ul><li><a class="share-twitter">Share</a></li></ul></div></div>
<footer class="entry-footer"><span class="cat-links">Posted in <a href="/c" rel="category tag">Notes</a></span></footer></article>
<nav class="navigation post-navigation"><div class="nav-previous"><a href="/p" rel="prev">An older one</a></div></nav>${comments}</main></div>
<aside id="secondary" class="widget-area"><section class="widget widget_recent_entries"><h2 class="widget-title">Recent Posts</h2><ul><li><a href="/r">Something else entirely</a></li></ul></section><section class="widget widget_archive"><h2 class="widget-title">Archives</h2></section></aside></div>
<footer id="colophon" class="site-footer"><div class="site-info">Proudly powered by WordPress</div></footer></div></body>`,
    ),
};

const ghost: Theme = {
  name: "ghost",
  section: "blog",
  extraBlocksMax: 3,
  forbidden: ["Sign up now", "You might also like", "Powered by Ghost", "Member discussion"],
  render: ({ title, html, index }) =>
    wholePage(
      title,
      `<meta name="generator" content="Ghost 5.90"><script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":${JSON.stringify(title)},"author":{"@type":"Person","name":"${authorOf(index)}"},"datePublished":"${dateOf(index)}T08:00:00.000Z"}</script>`,
      `<body class="post-template"><div class="gh-viewport"><header id="gh-navigation" class="gh-navigation"><a class="gh-navigation-logo" href="/">The Workbench</a><nav><ul class="nav"><li><a href="/tags">Topics</a></li></ul></nav><a href="#/portal/signup" data-portal="signup">Sign up now</a></header>
<main class="gh-main"><article class="gh-article post"><header class="gh-article-header gh-canvas"><h1 class="gh-article-title is-title">${title}</h1><div class="gh-article-meta"><h4 class="gh-article-author-name">${authorOf(index)}</h4><time class="gh-article-meta-date" datetime="${dateOf(index)}">${dateOf(index)}</time></div></header>
<section class="gh-content gh-canvas is-body">${hljsCode(withoutHeading(html))}</section></article>
<div class="gh-comments gh-canvas"><h2 class="gh-comments-title">Member discussion</h2></div></main>
<section class="gh-container is-grid gh-outer"><h2 class="gh-container-title">You might also like</h2><article class="gh-card post"><a class="gh-card-link" href="/o"><h3>Another story of somebody else</h3><p class="gh-card-excerpt">An excerpt that is not part of this text.</p></a></article></section>
<footer class="gh-footer"><div class="gh-footer-copyright"><a href="https://ghost.org/">Powered by Ghost</a></div></footer></div></body>`,
    ),
};

const medium: Theme = {
  name: "medium",
  section: "blog",
  extraBlocksMax: 4,
  forbidden: ["Open in app", "Written by", "More from", "Recommended from", "Text to speech"],
  render: ({ title, html, index }) =>
    wholePage(
      `${title} | by ${authorOf(index)} | Scribbles`,
      `<meta property="og:type" content="article"><meta property="article:author" content="https://scribbles.example/@x"><meta name="author" content="${authorOf(index)}">`,
      `<body><div id="root"><div class="a b c"><div class="l m n"><a class="o p" href="/app">Open in app</a><a href="/signin" class="q">Sign in</a></div>
<div class="ab ca"><article><div class="ch bg fy"><div><h1 id="f3a1" class="pw-post-title gq gr">${title}</h1><div class="hb hc speechify-ignore ab cp"><a href="/@x" rel="noopener follow">${authorOf(index)}</a><div><span>4 min read</span><span>${dateOf(index)}</span></div><button aria-label="clap">1.2K</button></div>
${lineTableCode(withoutHeading(html)).replaceAll("<p>", `<p class="pw-post-body-paragraph mw mx">`).replaceAll("<h2", `<h2 class="nt nu"`)}</div></div></article></div>
<div class="footer-x"><div><h2>Written by ${authorOf(index)}</h2><p>Writes about many things. 2K followers</p></div><div><h2>More from ${authorOf(index)}</h2></div><div><h2>Recommended from Scribbles</h2></div><a href="/tts">Text to speech</a></div></div></div></body>`,
    ),
};

const hugo: Theme = {
  name: "hugo",
  section: "blog",
  extraBlocksMax: 3,
  forbidden: ["Powered by Hugo", "See Also", "Subscribe by mail"],
  render: ({ title, html, index }) =>
    wholePage(
      title,
      `<meta name="generator" content="Hugo 0.145.0"><meta itemprop="datePublished" content="${dateOf(index)}">`,
      `<body class="single"><header class="top"><a href="/">home</a> <a href="/posts/">posts</a></header><div class="content"><main role="main"><div class="post"><h1 class="post-title">${title}</h1><p class="post-meta">${dateOf(index)}, ${authorOf(index)}</p><div class="post-content">
${chromaCode(withoutHeading(html))}</div></div></main><aside class="related"><h3>See Also</h3><ul><li><a href="/s">A text about something else</a></li></ul></aside></div><footer><p>Subscribe by mail. Powered by Hugo.</p></footer></body>`,
    ),
};

export const blogThemes: readonly Theme[] = [wordpress, ghost, medium, hugo];
