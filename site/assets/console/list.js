import { call } from "./api.js";
import { el } from "./element.js";
import { button } from "./form.js";
import { table } from "./table.js";

/** Shows a list of the API as a table. A button loads the next page. */
export function list(path, query, name, columns) {
  const { element, rows, row } = table(name, columns);
  const empty = el("p", { className: "quiet", hidden: true }, "Nothing found.");
  const more = button("More", read);
  more.hidden = true;
  const made = new Set();
  let cursor = {};
  return { element: el("div", {}, element, empty, more), read, add };

  async function read() {
    const asked = new URLSearchParams({ ...query, ...cursor });
    const { items, next_cursor: next } = await call("GET", `${path}?${asked}`);
    rows.append(...items.filter((item) => !made.has(idOf(item))).map(row));
    cursor = { cursor: next };
    more.hidden = next === null;
    showOrHide();
  }

  /** Puts a new item first. Later pages skip it. */
  function add(item) {
    made.add(idOf(item));
    rows.prepend(row(item));
    showOrHide();
  }

  function showOrHide() {
    empty.hidden = rows.childElementCount > 0;
    element.hidden = !empty.hidden;
  }
}

const idOf = ({ id, key_id }) => id ?? key_id;
