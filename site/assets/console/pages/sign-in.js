import { call } from "../api.js";
import { el } from "../element.js";
import { field, form } from "../form.js";
import { signIn, signOut } from "../session.js";

/** Calls `enter` when the service has accepted a token. */
export function signInPage(why, enter) {
  const token = field("token", "Operator token", {
    ...{ type: "password", required: true, spellcheck: false },
    ...{ pattern: "\\s*[!-~]+\\s*", title: "The configured token, without spaces or accents." },
  });
  const tried = form([token], "Sign in", async ({ token: given }) => {
    signIn(given);
    try {
      await call("GET", "organizations?limit=1");
    } catch (error) {
      return signOut(error.message);
    }
    await enter();
  });
  const error = el("p", { className: "error", role: "alert" }, why);
  return el("div", { className: "sign-in" }, el("h1", {}, "Sign in"), tried, error);
}
