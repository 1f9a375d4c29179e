import { singleAction } from "./run-action.js";
import { el } from "./element.js";

export function button(text, act, className = "") {
  const made = el("button", { type: "button", className }, text);
  made.addEventListener("click", singleAction(act));
  return made;
}

export function field(name, label, properties = {}) {
  return el("label", {}, label, el("input", { name, autocomplete: "off", ...properties }));
}

/** Creates a select box of `options`. Its first line, `none`, stands for no choice. */
export function choice(name, label, options, { none = "any", value = "" } = {}) {
  const lines = [["", none], ...Object.entries(options)];
  const select = el(
    "select",
    { name },
    ...lines.map(([key, text]) => el("option", { value: key }, text)),
  );
  select.value = value;
  return el("label", {}, label, select);
}

/** Creates a form that passes its values, by name, and itself to `act`. */
export function form(fields, submit, act) {
  const made = el("form", {}, ...fields, el("button", { className: "main" }, submit));
  const send = singleAction(act);
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    const filled = [...new FormData(made)].map(([name, value]) => [name, value.trim()]);
    void send(Object.fromEntries(filled.filter(([, value]) => value !== "")), made);
  });
  return made;
}
