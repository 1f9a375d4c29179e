// Enhances the pages. They work without it.

for (const build of [searchBox, menu, copyButtons, languageTabs, scrollers]) build();

/** Searches sections while the reader types. Fetches the index at the first focus. */
function searchBox() {
  const input = document.getElementById("search");
  const results = document.getElementById("results");
  const found = document.getElementById("found");
  const home = new URL("..", new URL(input.dataset.index, location)).pathname.replace(/\/$/, "");
  let sections = null;

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
    sections ??= fetch(input.dataset.index)
      .then((answer) => (answer.ok ? answer.json() : forget()))
      .catch(forget);
    return sections;
  }

  /** After an error, the next letter fetches the index again. */
  function forget() {
    sections = null;
    return [];
  }

  function move(event, to) {
    event.preventDefault();
    to?.focus();
  }

  function show(all) {
    const words = wordsOf(input.value);
    const best = words.length === 0 ? [] : ranked(all, words).slice(0, 8);
    results.replaceChildren(...best.map((section) => entry(section, words)));
    if (words.length > 0 && best.length === 0) results.append(element("p", "Nothing found."));
    results.hidden = words.length === 0;
    found.textContent = words.length === 0 ? "" : `${best.length} found`;
  }

  function entry({ href, page, title, text }, words) {
    const link = element("a", "");
    link.href = home + href;
    link.append(element("strong", title), element("small", page === title ? "" : page));
    link.append(snippet(text, words));
    return link;
  }
}

/** The typed words without endings, so that "retries" finds "retry". */
function wordsOf(typed) {
  const words = typed
    .toLowerCase()
    .split(/[^a-z0-9_]+/)
    .filter(Boolean);
  return words.map((word) => word.replace(/(?<=...)(ies|ing|ied|es|ed|s|y)$/, ""));
}

/** Sections that contain every word, matches in titles first. */
function ranked(sections, words) {
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ section }) => section);
}

function scoreOf({ title, page, text }, words) {
  const [inTitle, inPage, inText] = [title, page, text].map((part) => part.toLowerCase());
  let score = 0;
  for (const word of words) {
    const hit =
      (inTitle === word ? 40 : 0) +
      (inTitle.includes(word) ? 20 : 0) +
      (inText.startsWith(word) ? 10 : 0) + // The status of an error.
      (inPage.includes(word) ? 2 : 0) +
      (inText.includes(word) ? 3 : 0);
    if (hit === 0) return 0;
    score += hit;
  }
  return score;
}

function snippet(text, words) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  const rest = text.slice(at).replace(/^\S*\s/, at > 0 ? "…" : "$&"); // Start at a whole word.
  const cut = rest.length > 130 ? rest.slice(0, 130).replace(/\s\S*$/, "…") : rest;
  const line = element("span", "");
  const parts = cut.split(new RegExp(`((?:${words.join("|")})\\w*)`, "i")); // Text and matches alternate.
  line.append(...parts.map((part, i) => (i % 2 === 0 ? part : element("mark", part))));
  return line;
}

function menu() {
  const button = document.querySelector(".menu");
  const pages = document.getElementById("pages");
  button.addEventListener("click", () => {
    const isOpen = pages.classList.toggle("open");
    button.setAttribute("aria-expanded", String(isOpen));
  });
}

function copyButtons() {
  if (!navigator.clipboard) return; // Missing without HTTPS.
  for (const figure of document.querySelectorAll(".code")) {
    const button = element("button", "Copy");
    button.className = "copy";
    button.type = "button";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(figure.querySelector("code").textContent);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    figure.append(button);
  }
}

/** Turns panels into tabs. All tabs follow the language or framework that the reader chose last. */
function languageTabs() {
  const KEY = "partner-api-docs-chosen";
  let chosen = JSON.parse(localStorage.getItem(KEY) ?? "[]");
  const groups = [...document.querySelectorAll(".tabs")].map(tabsOf);
  for (const show of groups) show();

  function choose(title) {
    chosen = [title, ...chosen.filter((other) => other !== title)];
    localStorage.setItem(KEY, JSON.stringify(chosen));
    for (const show of groups) show();
  }

  function tabsOf(root, group) {
    const panels = [...root.querySelectorAll(".panel")];
    const list = element("div", "");
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", root.dataset.label);
    const tabs = panels.map((panel, i) => tabOf(panel, `tabs-${group}-${i}`));
    list.append(...tabs);
    root.prepend(list);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const next = tabs.at((tabs.indexOf(event.target) + step) % tabs.length);
      next.click();
      next.focus();
    });
    const titles = panels.map((panel) => panel.dataset.title);
    return () => {
      const shown = Math.max(0, titles.indexOf(chosen.find((title) => titles.includes(title))));
      panels.forEach((panel, i) => {
        panel.hidden = i !== shown;
        tabs[i].setAttribute("aria-selected", String(i === shown));
        tabs[i].tabIndex = i === shown ? 0 : -1;
      });
    };
  }

  function tabOf(panel, id) {
    const { title } = panel.dataset;
    const tab = element("button", title);
    tab.type = "button";
    tab.id = `${id}-tab`;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", id);
    panel.id = id;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => {
      const before = tab.getBoundingClientRect().top;
      choose(title);
      scrollBy(0, tab.getBoundingClientRect().top - before); // Keep the clicked tab in place.
    });
    return tab;
  }
}

/** Makes scrolling boxes usable by keyboard. */
function scrollers() {
  for (const box of document.querySelectorAll("pre, .scroll")) {
    const update = () => {
      if (box.scrollWidth <= box.clientWidth) return box.removeAttribute("tabindex");
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", box.matches("pre") ? "Code" : "Table");
    };
    new ResizeObserver(update).observe(box);
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
