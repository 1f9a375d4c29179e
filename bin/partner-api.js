#!/usr/bin/env node
import "./node-version.js";
import { existsSync } from "node:fs";

// A checkout installs and builds itself first. A published package has neither file and needs no
// build.
const checkout = ["../scripts/ready.js", "../src"].map((path) => new URL(path, import.meta.url));
if (checkout.every((url) => existsSync(url))) {
  const { makeReady } = await import("../scripts/ready.js");
  await makeReady();
}

const { main } = await import("../dist/src/cli.js");
await main(process.argv.slice(2));
