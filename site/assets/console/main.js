import { runAction } from "./run-action.js";
import { el } from "./element.js";
import { deliveriesPage } from "./pages/deliveries.js";
import { deliveryPage } from "./pages/delivery.js";
import { keysPage } from "./pages/keys.js";
import { organizationsPage } from "./pages/organizations.js";
import { signInPage } from "./pages/sign-in.js";
import { subscriptionsPage } from "./pages/subscriptions.js";
import { say } from "./notice.js";
import { here } from "./place.js";
import { isSignedIn, signOut } from "./session.js";

/** `make` returns a page's title, its parts and `read`, which fills them from the API. */
const PAGES = new Map([
  ["deliveries", { make: deliveriesPage, tab: "deliveries" }],
  ["delivery", { make: deliveryPage, tab: "deliveries" }],
  ["subscriptions", { make: subscriptionsPage, tab: "subscriptions" }],
  ["organizations", { make: organizationsPage, tab: "organizations" }],
  ["keys", { make: keysPage, tab: "organizations" }],
]);

const main = document.getElementById("content");
const nav = document.getElementById("pages");
const refresh = document.getElementById("refresh");
const leave = document.getElementById("sign-out");

async function render() {
  if (!isSignedIn()) return showSignIn();
  const { page, query } = here();
  const { make, tab } = PAGES.get(page) ?? PAGES.get("deliveries");
  const { title, parts, read } = make(query);
  const heading = el("h1", { tabIndex: -1 }, title);
  main.replaceChildren(heading, ...parts);
  frame(title, tab);
  heading.focus();
  try {
    await read();
  } catch (error) {
    if (heading.isConnected) throw error; // Errors of a page that was left are ignored.
  }
}

/** Shows the sign-in form and removes everything else. */
function showSignIn(why = "") {
  say("");
  main.replaceChildren(signInPage(why, render));
  frame("Sign in", null);
  main.querySelector("input").focus();
}

/** Updates title and navigation. */
function frame(title, tab) {
  document.title = `${title} · Partner API console`;
  nav.hidden = refresh.hidden = leave.hidden = tab === null;
  for (const link of nav.children) {
    if (link.hash === `#/${tab}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

refresh.addEventListener("click", () => runAction(render));
leave.addEventListener("click", () => signOut());
addEventListener("signed-out", ({ detail }) => showSignIn(detail));
addEventListener("hashchange", () => runAction(render));
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // The fragment of the address is the current page.
  main.focus();
});
void runAction(render);
