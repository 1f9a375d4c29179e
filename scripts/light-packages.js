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

/** The packages for partners, in packages/, and the folder of src/ that holds the code of each. */
const SOURCES = { webhook: "webhook", client: "client" };

export const LIGHT_PACKAGES = Object.keys(SOURCES).map((name) => join("packages", name));

/** Gives each package its code from dist/, so that a package and the service run the same code. */
export function fillLightPackages(root) {
  for (const [name, source] of Object.entries(SOURCES)) {
    const target = join(root, "packages", name, "dist");
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target);
    copyModules(join(root, "dist/src", source), target);
    cpSync(join(root, "LICENSE"), join(root, "packages", name, "LICENSE"));
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
