#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { main } from "../dist/bridge.js";

// A fleet's wish for another driver of PostgreSQL. The bridge needs the one in JavaScript.
delete process.env.NODE_PG_FORCE_NATIVE;
const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
const { version } = JSON.parse(manifest);
await main(process.argv.slice(2), { version, env: process.env });
