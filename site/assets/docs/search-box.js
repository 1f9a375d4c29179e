import { element } from "./element.js";
import { createSearch, stemOf } from "./search.js";

/** Searches sections while the reader types. Fetches the index at the first focus. */
export function searchBox() {
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  const found = document.getElementById("found");
  const home = new URL("..", new URL(input.dataset.index, location)).pathname.replace(/\/$/, "");
  let searching = null;

  input.addEventListener("focus", load, { once: true });
  input.addEventListener("input", async () => show(await load()));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") results.querySelector("a")?.click();
    if (event.key === "ArrowDown") move(event, results.querySelector("a"));
  });
  results.addEventListener("keydown", (event) => {
    const at = event.target.closest("a");
    if (event.key === "ArrowDown") move(event, at.nextElementSibling);
    if (event.key === "ArrowUp") move(event, at.previousElementSibling ?? input);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !event.target.closest("input")) move(event, input);
    if (event.key === "Escape" && !results.hidden) {
      move(event, input);
      results.hidden = true;
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("search") || event.target.closest("#results a"))
      results.hidden = true;
  });
  results.parentElement.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !event.relatedTarget.closest("search")) results.hidden = true;
  });

  function load() {
    searching ??= fetch(input.dataset.index)
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))))
      .then(createSearch)
      .catch(forget);
    return searching;
  }

  /** After an error, the next letter fetches the index again. */
  function forget() {
    searching = null;
    return () => [];
  }

  function move(event, to) {
    event.preventDefault();
    to?.focus();
  }

  function show(search) {
    const typed = input.value.trim();
    const best = typed === "" ? [] : search(typed).slice(0, 8);
    results.replaceChildren(...best.map(entry));
    if (typed !== "" && best.length === 0) results.append(element("p", "Nothing found."));
    results.hidden = typed === "";
    found.textContent = typed === "" ? "" : `${best.length} found`;
  }

  function entry({ href, page, title, text, terms }) {
    const link = element("a", "");
    link.href = home + href;
    link.append(element("strong", title), element("small", page === title ? "" : page));
    link.append(snippet(text, terms));
    return link;
  }
}

/** The text around the first match, with the matches marked. `terms` are stems. */
function snippet(text, terms) {
  const parts = text.split(/([\p{L}\p{N}_]+)/u); // Separators and words alternate.
  const isMatch = (part, i) => i % 2 === 1 && terms.includes(stemOf(part));
  const first = Math.max(0, parts.findIndex(isMatch));
  const from = first > 16 ? first - 8 - (first % 2) + 1 : 0;
  const line = element("span", from > 0 ? "…" : "");
  let length = 0;
  for (const [i, part] of parts.entries()) {
    if (i < from) continue;
    length += part.length;
    if (length > 130) {
      line.append("…");
      break;
    }
    line.append(isMatch(part, i) ? element("mark", part) : part);
  }
  return line;
}
