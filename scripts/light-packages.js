import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runNode } from "./run.js";

/** Libraries: the folder of src/ that holds the code of each. */
const LIBRARIES = { webhook: "webhook", client: "client" };
/** Programs: the module that esbuild bundles. */
const PROGRAMS = { listen: "listen-cli" };

/** The packages for partners. */
export const LIGHT_PACKAGES = Object.keys({ ...LIBRARIES, ...PROGRAMS }).map((name) =>
  join("packages", name),
);

/** Gives each package its code from dist/, so that a package and the service run the same code, and its types. */
export async function fillLightPackages(root, signal) {
  const compiler = join(root, "node_modules/typescript/lib/tsc.js");
  await runNode("tsc", [compiler, "--project", "packages"], { cwd: root, signal });
  for (const path of LIGHT_PACKAGES) {
    const target = join(root, path, "dist");
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
  }
  for (const path of [...LIGHT_PACKAGES, "packages/python", "packages/go"]) {
    cpSync(join(root, "LICENSE"), join(root, path, "LICENSE"));
  }
  const targetOf = (name) => join(root, "packages", name, "dist");
  for (const [name, source] of Object.entries(LIBRARIES)) {
    copyModules(join(root, "dist/src", source), targetOf(name));
  }
  for (const [name, source] of Object.entries(PROGRAMS)) {
    await bundle(join(root, "dist/src", `${source}.js`), join(targetOf(name), `${name}.js`));
  }
}

export function areLightPackagesFilled(root) {
  return LIGHT_PACKAGES.every((path) => existsSync(join(root, path, "dist")));
}

function copyModules(from, to) {
  for (const file of readdirSync(from)) {
    const text = readFileSync(join(from, file), "utf8");
    writeFileSync(join(to, file), file.endsWith(".d.ts") ? withJsImports(text) : text);
  }
}

/** tsc leaves `.ts` in declarations, which only some settings of `moduleResolution` find. */
function withJsImports(declarations) {
  return declarations.replace(/(from |import\()"(\.[^"]*)\.ts"/g, '$1"$2.js"');
}

/** Loaded on demand, because it is a package for development. */
async function bundle(from, to) {
  const { build } = await import("esbuild");
  const options = { bundle: true, platform: "node", target: "node20.19", format: "esm" };
  const smaller = { packages: "external", minifyWhitespace: true };
  await build({ ...options, ...smaller, entryPoints: [from], outfile: to });
}
