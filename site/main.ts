import { buildSite } from "./build.ts";

await buildSite(new URL("../docs/", import.meta.url));
