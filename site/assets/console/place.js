/** Where the operator is: a page, and what it is asked for. It lies behind the # of the address, which no server sees. */
export function here() {
  const [page, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { page, query: Object.fromEntries(new URLSearchParams(query)) };
}

export function addressOf(page, query = {}) {
  const asked = String(new URLSearchParams(query));
  return asked === "" ? `#/${page}` : `#/${page}?${asked}`;
}

/** Goes there; whoever is there already sees it anew. */
export function go(page, query) {
  const address = addressOf(page, query);
  if (location.hash === address) dispatchEvent(new Event("hashchange"));
  else location.hash = address;
}
