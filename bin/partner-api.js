#!/usr/bin/env node
import "./node-version.js";
import { existsSync } from "node:fs";

// A checkout installs and builds itself first. A published package has neither file and needs no
// build.
const here = (path) => new URL(path, import.meta.url);
if (["../scripts/ready.js", "../src"].every((path) => existsSync(here(path)))) {
  const { makeReady } = await import("../scripts/ready.js");
  await makeReady();
}

const bundle = here("../dist/program/cli.js");
const { main } = await import(existsSync(bundle) ? bundle.href : "../dist/src/start/cli.js");
await main(process.argv.slice(2));
