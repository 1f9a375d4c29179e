/** The current page and its query, from the fragment of the address, which no server sees. */
export function here() {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page, query: Object.fromEntries(new URLSearchParams(query)) };
}

export function addressOf(page, query = {}) {
  const asked = String(new URLSearchParams(query));
  return asked === "" ? `#/${page}` : `#/${page}?${asked}`;
}

/** Opens a page, or reloads it if it is open. */
export function go(page, query) {
  const address = addressOf(page, query);
  if (location.hash === address) dispatchEvent(new Event("hashchange"));
  else location.hash = address;
}
