#!/usr/bin/env node
import "./node-version.js";
import { existsSync } from "node:fs";

// A checkout installs and builds itself first, unless this is a worker, whose parent has done so. A
// published package has neither file and needs no build.
const here = (path) => new URL(path, import.meta.url);
const isCheckout = ["../scripts/ready.js", "../src"].every((path) => existsSync(here(path)));
if (isCheckout && !(await import("node:cluster")).default.isWorker) {
  const { makeReady } = await import("../scripts/ready.js");
  await makeReady();
}

const bundle = here("../dist/program/cli.js");
const { main } = await import(existsSync(bundle) ? bundle.href : "../dist/src/start/cli.js");
await main(process.argv.slice(2));
