import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme, storedTheme } from "./components/theme-choice.tsx";

applyTheme(storedTheme());

const root = document.getElementById("console");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // The fragment of the address is the current page.
  document.getElementById("content")?.focus();
});
