import { fileURLToPath } from "node:url";

/** The checkout, independent of the folder of the compiled tests. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
