/** Stored only in this variable, so leaving or reloading the page forgets it. */
let token = null;

/** As the service tells it with every answer. */
let role = null;

export const isSignedIn = () => token !== null;

export const authorization = () => `Bearer ${token}`;

/** Returns the parts of a page that change something, or nothing if the operator's token may only read. */
export const ifMayChange = (...parts) => (role === "read" ? [] : parts);

export function signIn(given) {
  token = given;
}

export function noteRole(told) {
  role = told;
}

/** On `signed-out`, main.js removes everything from the page. */
export function signOut(why = "") {
  token = role = null;
  dispatchEvent(new CustomEvent("signed-out", { detail: why }));
}
