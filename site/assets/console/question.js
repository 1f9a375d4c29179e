import { el } from "./element.js";

/**
 * Asks before something that cannot be taken back. Whoever just presses Enter or Escape has said no. `about` has a
 * paragraph of its own: letters that turn the direction of writing turn nothing of the question.
 */
export function confirmed(question, about, yes) {
  const said = [el("p", {}, question), el("p", { className: "quiet" }, about)];
  const dialog = el("dialog", { ariaLabel: yes }, ...said);
  const answer = (text, value, className) => {
    const made = el("button", { type: "button", className }, text);
    made.addEventListener("click", () => dialog.close(value));
    return made;
  };
  dialog.append(
    el("div", { className: "buttons" }, answer("Cancel", "", ""), answer(yes, "yes", "main")),
  );
  document.getElementById("content").append(dialog); // Goes with the page that asked.
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
