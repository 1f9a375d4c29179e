import { el } from "./element.js";

/**
 * Asks before an irreversible action. Enter and Escape mean no. `about` has its own paragraph, so
 * that characters that reverse the writing direction cannot affect the question.
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
  document.getElementById("content").append(dialog); // Removed together with the page.
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
