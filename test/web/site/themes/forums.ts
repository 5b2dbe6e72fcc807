/** Threads as four systems write them: every post is content. */
import { hljsCode } from "./highlight.ts";
import { type Theme, wholePage, withoutHeading } from "./theme.ts";

const users = ["maple", "otter77", "gwen", "t_brook"];

interface Post {
  readonly html: string;
  readonly user: string;
  readonly date: string;
  readonly number: number;
}

/** Each paragraph begins a post; code and lists belong to the paragraph before them. */
function postsOf(html: string): Post[] {
  const pieces = withoutHeading(html)
    .split(/(?=<p>)/)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== "");
  return pieces.map((piece, index) => ({
    html: piece,
    user: users[index % users.length] ?? "",
    date: `2026-04-0${(index % 9) + 1}`,
    number: index + 1,
  }));
}

function each(html: string, write: (post: Post) => string): string {
  return postsOf(html).map(write).join("\n");
}

/** Author, date and number of each post may be written beside it. */
const extraBlocksMax = 12;

const phpbb: Theme = {
  name: "phpbb",
  section: "forum",
  extraBlocksMax,
  forbidden: ["Powered by phpBB", "Who is online", "Board index", "Jump to", "Quick links"],
  render: ({ title, html }) =>
    wholePage(
      `${title} - The Workshop Board`,
      ``,
      `<body id="phpbb" class="nojs notouch section-viewtopic ltr"><div id="wrap" class="wrap"><div id="page-header"><div class="headerbar"><h1>The Workshop Board</h1></div><div class="navbar"><ul id="nav-main" class="nav-main"><li class="dropdown-container">Quick links</li></ul><ul id="nav-breadcrumbs"><li class="breadcrumbs"><a href="./index.php">Board index</a></li></ul></div></div>
<div id="page-body" class="page-body" role="main"><h2 class="topic-title"><a href="./viewtopic.php?t=1">${title}</a></h2>
${each(hljsCode(html), ({ html: text, user, date, number }) => `<div id="p${number}" class="post has-profile bg${number % 2 === 0 ? 1 : 2}"><div class="inner"><dl class="postprofile" id="profile${number}"><dt class="has-profile-rank"><a href="./memberlist.php?u=${number}" class="username">${user}</a></dt><dd class="profile-posts"><strong>Posts:</strong> <a href="./s">${number * 13}</a></dd></dl><div class="postbody"><div id="post_content${number}"><h3><a href="#p${number}">Re: ${title}</a></h3><p class="author"><span class="responsive-hide">by <strong><a class="username">${user}</a></strong> &raquo; </span><time datetime="${date}">${date}</time></p><div class="content">${text}</div></div></div></div></div>`)}
<div class="action-bar bar-bottom"><div class="pagination">Page <strong>1</strong> of <strong>1</strong></div><div class="jumpbox">Jump to</div></div><div class="stat-block online-list"><h3>Who is online</h3><p>Users browsing this forum: No registered users and 3 guests</p></div></div>
<div id="page-footer" class="page-footer"><div class="copyright">Powered by phpBB&reg; Forum Software</div></div></div></body>`,
    ),
};

const discourse: Theme = {
  name: "discourse",
  section: "forum",
  extraBlocksMax,
  forbidden: ["Suggested Topics", "Powered by Discourse", "best viewed with JavaScript enabled", "Log In"],
  render: ({ title, html }) =>
    wholePage(
      `${title} - Help - Makers`,
      `<meta name="generator" content="Discourse 3.5.0"><meta property="og:type" content="website">`,
      `<body class="crawler"><header><a href="/"><img src="/logo.png" alt="Makers"></a><a href="/login" class="btn">Log In</a></header><div id="main-outlet" class="wrap" role="main"><div id="topic-title"><h1><a href="/t/x/1">${title}</a></h1><div class="topic-category"><a href="/c/help"><span class="category-title">Help</span></a></div></div>
<div itemscope itemtype="http://schema.org/DiscussionForumPosting">${each(hljsCode(html), ({ html: text, user, date, number }) => `<div id="post_${number}" class="topic-body crawler-post" itemprop="comment" itemscope itemtype="http://schema.org/Comment"><div class="crawler-post-meta"><span class="creator" itemprop="author" itemscope><a rel="nofollow" href="/u/${user}"><span itemprop="name">${user}</span></a></span><span class="crawler-post-infos"><time itemprop="datePublished" datetime="${date}">${date}</time><span itemprop="position">${number}</span></span></div><div class="post" itemprop="text">${text}</div><div class="crawler-linkback-list"></div></div>`)}</div>
<div id="related-topics" class="more-topics__list"><h3 class="more-topics__list-title">Suggested Topics</h3><div class="topic-list-container"><table class="topic-list"><tbody><tr class="topic-list-item"><td class="main-link"><a href="/t/y/2" class="title raw-link">A topic about something else</a></td></tr></tbody></table></div></div></div>
<footer class="container wrap"><p>Powered by <a href="https://www.discourse.org">Discourse</a>, best viewed with JavaScript enabled</p></footer></body>`.replaceAll(
        'Powered by <a href="https://www.discourse.org">Discourse</a>',
        "Powered by Discourse",
      ),
    ),
};

const vbulletin: Theme = {
  name: "vbulletin",
  section: "forum",
  extraBlocksMax,
  forbidden: ["Powered by vBulletin", "Similar Threads", "Posting Permissions", "Thread Tools"],
  render: ({ title, html }) =>
    wholePage(
      title,
      `<meta name="generator" content="vBulletin 3.8.11">`,
      `<body><div align="center"><table class="tborder" width="100%"><tr><td class="alt1"><a href="index.php">Old Garage Forum</a> &gt; <span class="navbar">Help</span></td></tr></table>
<h1>${title}</h1><table class="tborder" width="100%"><tr><td class="thead">Thread Tools</td></tr></table><div id="posts">
${each(html, ({ html: text, user, date, number }) => `<div align="center"><table id="post${number}" class="tborder" cellpadding="6" cellspacing="0" border="0" width="100%"><tr><td class="thead"><a name="post${number}">${date}</a></td><td class="thead" align="right">#${number}</td></tr><tr valign="top"><td class="alt2" width="175"><div id="postmenu_${number}"><a class="bigusername" href="member.php?u=${number}">${user}</a></div><div class="smallfont">Senior Member</div></td><td class="alt1" id="td_post_${number}"><div id="post_message_${number}">${text}</div></td></tr></table></div>`)}
</div><table class="tborder"><tr><td class="thead">Similar Threads</td></tr><tr><td class="alt1"><a href="showthread.php?t=9">A thread that is like this one</a></td></tr><tr><td class="thead">Posting Permissions</td></tr><tr><td class="alt1">You may not post new threads</td></tr></table><div class="smallfont">Powered by vBulletin&reg;</div></div></body>`,
    ),
};

const stackExchange: Theme = {
  name: "stack-exchange",
  section: "forum",
  extraBlocksMax: 14,
  forbidden: [
    "Hot Network Questions",
    "Sign up or log in",
    "Your Answer",
    "Not the answer you're looking for",
    "Cookie Settings",
  ],
  render: ({ title, html }) =>
    wholePage(
      `${title} - Questions`,
      `<meta property="og:type" content="website"><meta property="og:site_name" content="Questions">`,
      `<body class="question-page unified-theme"><header class="s-topbar"><a href="/" class="s-topbar--logo">Questions</a></header><div class="container"><div id="left-sidebar" class="left-sidebar"><nav role="navigation"><ol class="nav-links"><li><a href="/tags">Tags</a></li></ol></nav></div>
<div id="content" class="snippet-hidden"><div itemprop="mainEntity" itemscope itemtype="https://schema.org/Question"><div class="inner-content clearfix"><div id="question-header" class="d-flex"><h1 itemprop="name" class="fs-headline1"><a href="/questions/1" class="question-hyperlink">${title}</a></h1></div><div id="mainbar" role="main" aria-label="question and answers">
${each(hljsCode(html), ({ html: text, user, date, number }) => answerOrQuestion({ text, user, date, number }))}
<form id="post-form"><h2 class="space">Your Answer</h2></form><h2 class="bottom-notice">Not the answer you're looking for?</h2></div>
<div id="sidebar" class="show-votes" role="complementary"><div id="hot-network-questions"><h4><a href="/hnq">Hot Network Questions</a></h4><ul><li><a href="/q">Is this a question about something else?</a></li></ul></div></div></div></div></div></div><footer id="footer" class="site-footer"><a>Sign up or log in</a><button>Cookie Settings</button></footer></body>`,
    ),
};

function answerOrQuestion({
  text,
  user,
  date,
  number,
}: {
  text: string;
  user: string;
  date: string;
  number: number;
}): string {
  const kind = number === 1 ? "question" : "answer";
  const votes = `<div class="votecell post-layout--left"><div class="js-voting-container"><div class="js-vote-count" itemprop="upvoteCount">${number * 7}</div></div></div>`;
  const card = `<div class="user-info"><div class="user-action-time">${kind === "question" ? "asked" : "answered"} <span class="relativetime">${date}</span></div><div class="user-details" itemprop="author"><a href="/users/${number}">${user}</a></div></div>`;
  return `<div id="${kind}-${number}" class="${kind} js-${kind}" itemprop="${kind === "answer" ? "suggestedAnswer" : ""}"><div class="post-layout">${votes}<div class="${kind === "question" ? "postcell" : "answercell"} post-layout--right"><div class="s-prose js-post-body" itemprop="text">${text}</div><div class="mt24">${card}</div></div></div></div>`;
}

export const forumThemes: readonly Theme[] = [phpbb, discourse, vbulletin, stackExchange];
