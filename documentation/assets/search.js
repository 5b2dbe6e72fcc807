// The search of the documentation: every word must occur, titles count more than other text. The pages work without it.
const field = document.getElementById("page-search");
const list = document.getElementById("page-results");
const RESULTS_MAX = 12;

/** @type {Promise<{ to: string, title: string, of: string, method?: string, text?: string }[]> | undefined} */
let index;
const load = () => (index ??= fetch("/docs/assets/search.json").then((answer) => answer.json()));

field.disabled = false;
field.addEventListener("focus", load);
field.addEventListener("input", () => void show());
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") close();
  if (event.key === "Enter") list.querySelector("a")?.click();
  if (event.key === "ArrowDown") move(event, list.querySelector("a"));
});
list.addEventListener("keydown", (event) => {
  const item = event.target.closest("li");
  if (event.key === "Escape") close();
  if (event.key === "ArrowDown") move(event, item?.nextElementSibling?.querySelector("a"));
  if (event.key === "ArrowUp") move(event, item?.previousElementSibling?.querySelector("a") ?? field);
});
list.addEventListener("click", close);
document.addEventListener("click", ({ target }) => {
  if (target.closest("search") === null) list.hidden = true;
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest('input:not([type="radio"])') !== null;
  const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !isTyping;
  const isCommand = event.key === "k" && (event.ctrlKey || event.metaKey);
  if (!isSlash && !isCommand) return;
  event.preventDefault();
  field.focus();
});

function move(event, to) {
  event.preventDefault();
  to?.focus();
}

function close() {
  list.hidden = true;
  field.focus();
}

async function show() {
  const typed = field.value;
  const entries = await load();
  // More was typed meanwhile.
  if (typed !== field.value) return;
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : best(entries, words);
  list.replaceChildren(...found.map(itemOf));
  if (words.length > 0 && found.length === 0) list.append(nothing());
  list.hidden = words.length === 0;
}

function best(entries, words) {
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, RESULTS_MAX)
    .map(({ entry }) => entry);
}

/** Zero if a word is missing. */
function scoreOf({ title, of, method, text = "" }, words) {
  let sum = title.toLowerCase() === words.join(" ") ? 4 : 0;
  // The path of an operation, typed or pasted as a whole.
  if (method !== undefined && words.length === 1 && of.toLowerCase() === words[0]) sum += 20;
  for (const word of words) {
    const inTitle = title.toLowerCase().indexOf(word);
    const score =
      inTitle === 0
        ? 8
        : inTitle > 0
          ? 5
          : of.toLowerCase().includes(word)
            ? 3
            : Number(text.toLowerCase().includes(word));
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
}

function itemOf({ to, title, of, method }) {
  const link = document.createElement("a");
  link.href = to;
  const small = document.createElement("small");
  if (method !== undefined) {
    const badge = document.createElement("span");
    badge.className = `method ${method.toLowerCase()}`;
    badge.textContent = method;
    small.append(badge, " ");
  }
  small.append(of);
  link.append(title, small);
  const item = document.createElement("li");
  item.append(link);
  return item;
}

function nothing() {
  const item = document.createElement("li");
  item.textContent = "Nothing is found.";
  return item;
}
