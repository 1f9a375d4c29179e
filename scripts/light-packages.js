import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { runNode } from "./run.js";

/** Libraries: the folder of src/ that holds the code of each. */
const LIBRARIES = { webhook: "webhook", client: "client" };
/** Bundles: the module that esbuild bundles, with what it imports from other folders. */
const BUNDLES = { listen: "listen/cli", bridge: "bridge/cli", egress: "egress/index" };

/** The packages for partners. */
export const LIGHT_PACKAGES = Object.keys({ ...LIBRARIES, ...BUNDLES }).map((name) =>
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
  for (const [name, source] of Object.entries(BUNDLES)) {
    await bundle(join(root, "dist/src", `${source}.js`), join(targetOf(name), `${name}.js`));
    copyDeclarations(join(root, "dist/src"), `${source}.d.ts`, targetOf(name));
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

/** Copies the declarations of a module and of those that it imports, if tsc wrote any. */
function copyDeclarations(root, path, target) {
  const to = join(target, path);
  if (!existsSync(join(root, path)) || existsSync(to)) return;
  const text = readFileSync(join(root, path), "utf8");
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, withJsImports(text));
  for (const [, imported] of text.matchAll(/(?:from |import\()"(\.[^"]*)\.ts"/g))
    copyDeclarations(root, join(dirname(path), `${imported}.d.ts`), target);
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
