#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { main } from "../dist/bridge.js";

const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
const { version } = JSON.parse(manifest);
await main(process.argv.slice(2), { version, env: process.env });
