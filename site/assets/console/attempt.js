import { Problem } from "./api.js";
import { say, warn } from "./notice.js";
import { signOut } from "./session.js";

/** Does what was asked for, and says what went wrong. A token that does not hold any more ends the session. */
export async function attempt(act) {
  say("");
  try {
    await act();
  } catch (error) {
    if (error instanceof Problem && error.status === 401) signOut(error.message);
    else warn(error.message);
  }
}

/** The same for what may be asked for twice at once, as by a double click: the second time nothing happens. */
export function attempting(act) {
  let isUnderWay = false;
  return async (...given) => {
    if (isUnderWay) return;
    isUnderWay = true;
    await attempt(() => act(...given));
    isUnderWay = false;
  };
}
