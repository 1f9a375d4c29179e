import { fileURLToPath } from "node:url";

/** The checkout, wherever in it the compiled tests lie. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
