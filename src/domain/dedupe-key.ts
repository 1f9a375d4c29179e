/** How long a dedupe key stands for its event. */
export const DEDUPE_MS = 24 * 3_600_000;

/** Visible ASCII, 1 to 255 characters. */
export const DEDUPE_KEY = /^[!-~]{1,255}$/;

/** `DEDUPE_KEY` in words. */
export const DEDUPE_KEY_RULE = "1 to 255 visible ASCII characters";
