import { kept } from "./kept.js";

const choice = kept("partner-api-docs-appearance");
const CHOICES = ["system", "light", "dark"];

/** Applies the reader's last choice. Called before the page is painted. */
export function applyAppearance() {
  const chosen = choice.read() ?? "system";
  document.documentElement.dataset.appearance = chosen;
  return chosen;
}

/** The button goes from the system's appearance to light, dark and back. */
export function appearanceButton() {
  const button = document.querySelector(".appearance");
  button.addEventListener("click", () => {
    const next = CHOICES[(CHOICES.indexOf(applyAppearance()) + 1) % CHOICES.length];
    choice.write(next);
    show();
  });
  show();

  function show() {
    const chosen = applyAppearance();
    button.textContent = chosen[0].toUpperCase() + chosen.slice(1);
    button.setAttribute("aria-label", `Appearance: ${chosen}`);
  }
}
