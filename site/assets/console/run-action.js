import { Problem } from "./api.js";
import { say, warn } from "./notice.js";
import { signOut } from "./session.js";

/** Runs an action and shows its error. An invalid token ends the session. */
export async function runAction(act) {
  say("");
  try {
    await act();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) signOut(error.message);
    else warn(error.message);
  }
}

/** Returns a function that runs the action, and ignores further calls until it has ended. */
export function singleAction(act) {
  let isRunning = false;
  return async (...given) => {
    if (isRunning) return;
    isRunning = true;
    await runAction(() => act(...given));
    isRunning = false;
  };
}
