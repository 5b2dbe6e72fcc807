// Conveniences of every page, which is whole without them: code is copied, the language of samples is kept, and the navigation shows the part
// that is read.
const LANGUAGE = "tollgate-docs-language";

for (const box of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(box.querySelector("pre").textContent, button));
  box.append(button);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    // Pages that are not of a secure origin may not write to the clipboard.
    button.textContent = "Select it";
  }
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

function choose(language) {
  for (const choice of document.querySelectorAll(`.samples input[value="${language}"]`)) choice.checked = true;
}

document.addEventListener("change", ({ target }) => {
  if (!target.matches(".samples input")) return;
  // The samples above change their height: what is read stays in its place.
  const before = target.getBoundingClientRect().top;
  choose(target.value);
  scrollBy(0, target.getBoundingClientRect().top - before);
  try {
    localStorage.setItem(LANGUAGE, target.value);
  } catch {
    // A browser may keep nothing.
  }
});
try {
  const kept = localStorage.getItem(LANGUAGE);
  if (/^(sh|python|typescript)$/.test(kept ?? "")) choose(kept);
} catch {
  // As above.
}

const navigation = document.getElementById("page-navigation");
navigation.addEventListener("click", ({ target }) => {
  if (target.closest("a") !== null && navigation.matches(":popover-open")) navigation.hidePopover();
});
const here = navigation.querySelector('[aria-current="page"]');
if (here !== null) navigation.scrollTop = here.offsetTop - navigation.clientHeight / 3;

const links = new Map(
  [...document.querySelectorAll('#page-parts a, .operations a[href^="#"]')].map((link) => [
    decodeURIComponent(link.hash.slice(1)),
    link,
  ]),
);
const headings = [...links.keys()].map((id) => document.getElementById(id)).filter((each) => each !== null);
let shown;
function follow() {
  const edge = innerHeight / 4;
  const heading = headings.findLast((each) => each.getBoundingClientRect().top < edge);
  const link = links.get(heading?.id);
  if (link === shown) return;
  shown?.removeAttribute("aria-current");
  link?.setAttribute("aria-current", "location");
  shown = link;
  const list = link?.closest("nav");
  if (list == null || list.scrollHeight <= list.clientHeight) return;
  const { top, bottom } = link.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (top < box.top || bottom > box.bottom) list.scrollTop += top - box.top - box.height / 3;
}
if (headings.length > 0) {
  addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
  follow();
}
