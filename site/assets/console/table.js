import { el } from "./element.js";

/** `columns` are pairs of a title and a function of an item. Its second argument redraws or removes the row. */
export function table(name, columns) {
  const rows = el("tbody");
  const titles = columns.map(([title]) => el("th", { scope: "col" }, title));
  const head = el("thead", {}, el("tr", {}, ...titles));
  const element = el("table", { ariaLabel: name, tabIndex: -1 }, head, rows);
  return { element, rows, row };

  function row(item) {
    const made = el("tr", {}, ...columns.map(([title, show]) => cell(title, show(item, redraw))));
    return made;

    function redraw(next) {
      if (next) made.replaceWith(row(next));
      else made.remove();
      element.focus(); // The focused element was removed.
    }
  }
}

/** Narrow screens show the title in front of each cell. */
function cell(title, shown) {
  return el("td", { data: { title } }, el("div", {}, shown));
}
