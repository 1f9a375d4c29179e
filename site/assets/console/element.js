/** Creates an element. Children are elements or become text, never markup. */
export function el(tag, properties = {}, ...children) {
  const { data = {}, ...own } = properties;
  const made = Object.assign(document.createElement(tag), own);
  Object.assign(made.dataset, data);
  made.append(...children.map((child) => child ?? "–"));
  return made;
}
