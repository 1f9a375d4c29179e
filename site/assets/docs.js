// Enhances the pages. They work without it.
import { appearanceButton } from "./docs/appearance.js";
import { element } from "./docs/element.js";
import { kept } from "./docs/kept.js";
import { searchBox } from "./docs/search-box.js";

for (const build of [searchBox, appearanceButton, menu, copyButtons, languageTabs, scrollers])
  build();

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
  const titles = kept("partner-api-docs-chosen");
  let chosen = JSON.parse(titles.read() ?? "[]");
  const groups = [...document.querySelectorAll(".tabs")].map(tabsOf);
  for (const show of groups) show();

  function choose(title) {
    chosen = [title, ...chosen.filter((other) => other !== title)];
    titles.write(JSON.stringify(chosen));
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
