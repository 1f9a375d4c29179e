/** In this variable and nowhere else: leaving the page forgets it, and so does loading it anew. */
let token = null;

export const isSignedIn = () => token !== null;

export const authorization = () => `Bearer ${token}`;

export function signIn(given) {
  token = given;
}

/** Whoever shows the pages listens for it, and takes away what is shown. */
export function signOut(why = "") {
  token = null;
  dispatchEvent(new CustomEvent("signed-out", { detail: why }));
}
