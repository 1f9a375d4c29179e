/** Stored only in this variable, so leaving or reloading the page forgets it. */
let token = null;

export const isSignedIn = () => token !== null;

export const authorization = () => `Bearer ${token}`;

export function signIn(given) {
  token = given;
}

/** On `signed-out`, main.js removes everything from the page. */
export function signOut(why = "") {
  token = null;
  dispatchEvent(new CustomEvent("signed-out", { detail: why }));
}
