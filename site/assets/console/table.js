import { el } from "./element.js";

/** `columns` are titles with what each shows of an item; that may draw the row anew, or take it away with null. */
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
      element.focus(); // What had the focus is gone.
    }
  }
}

/** On a narrow screen a title stands before each cell. */
function cell(title, shown) {
  return el("td", { data: { title } }, el("div", {}, shown));
}
