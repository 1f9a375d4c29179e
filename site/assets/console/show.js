import { el } from "./element.js";
import { addressOf } from "./place.js";

const COLOURS = {
  ...{ delivered: "good", active: "good" },
  ...{ dead_lettered: "bad", failed: "bad", "auto-disabled": "bad" },
};

/** A state in its colour. */
export const badge = (state) => el("span", { className: `word ${COLOURS[state] ?? ""}` }, state);

/** In UTC, to the second, or null. */
export const time = (written) =>
  written && el("time", { dateTime: written }, `${written.replace("T", " ").slice(0, 19)}Z`);

/** An id in a monospaced font. */
export const id = (text) => el("span", { className: "id" }, text);

/** Names below each other, without line breaks. */
export const names = (all) =>
  el("div", {}, ...all.map((name) => el("div", { className: "word" }, name)));

export const link = (shown, page, query) => el("a", { href: addressOf(page, query) }, shown);
