import { el } from "./element.js";
import { addressOf } from "./place.js";

const MOODS = {
  ...{ delivered: "good", active: "good" },
  ...{ dead_lettered: "bad", failed: "bad", "auto-disabled": "bad" },
};

/** A state, in the colour of how good it is. */
export const mood = (state) => el("span", { className: `word ${MOODS[state] ?? ""}` }, state);

/** To the second, and in UTC; null if there is none. */
export const time = (written) =>
  written && el("time", { dateTime: written }, `${written.replace("T", " ").slice(0, 19)}Z`);

/** Long, and mostly copied: each character as wide as the next. */
export const id = (text) => el("span", { className: "id" }, text);

/** Names that must stay whole, one below the other. */
export const names = (all) =>
  el("div", {}, ...all.map((name) => el("div", { className: "word" }, name)));

export const link = (shown, page, query) => el("a", { href: addressOf(page, query) }, shown);
