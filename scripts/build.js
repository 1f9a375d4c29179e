import "../bin/node-version.js";
import { makeReady } from "./ready.js";

await makeReady();
