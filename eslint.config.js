import { dirname, join, relative } from "node:path";
import js from "@eslint/js";
import { defineConfig, globalIgnores } from "eslint/config";
import tseslint from "typescript-eslint";

/**
 * The floors of src/, the lowest first. A file imports from its own room and from lower floors. In a subject, a file's name tells its
 * floor: rules, then statements, then work, then what is offered to partners and operators.
 */
const FLOORS = [
  /^(builtin|webhook|client)\//,
  /^(lib)\//,
  /^(egress|workers)\//,
  /^postgres\//,
  /\/(?:rules|json-document)\.ts$/,
  /^config\//,
  /^subjects\/.*sql\.ts$/,
  /^subjects\/(?!.*(?:routes|schema|commands|text|turns|streams)\.ts$)/,
  /^(queue|schema|event-types|commands)\/|^(bridge)\/(?!(?:cli|command|main)\.ts$)/,
  /^http\/(?!(?:partner|operator)-app\.ts$)/,
  /^observe\//,
  /^jobs\//,
  /^subjects\//,
  /^http\//,
  /^(bridge|gateway|listen)\//,
  /^start\//,
];

/** Rooms with one port: outside of such a room, only its `index.ts` is imported. */
const PORTS = ["builtin", "egress", "workers"];

/** Rooms that are published as packages, and the only rooms that they import. */
const PACKAGES = { webhook: [], client: [], egress: ["lib"] };

const CLOCK = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: "Take the time from the Clock.",
  },
  {
    selector: ":matches(NewExpression, CallExpression)[callee.name='Date'][arguments.length=0]",
    message: "Take the time from the Clock.",
  },
];

const LIMIT = {
  selector:
    "CallExpression[callee.object.name='AbortSignal'][callee.property.name='any'] CallExpression[callee.property.name='timeout']",
  message: "Node.js 20 forgets this limit: use withTimeLimit.",
};

const SQL_TIME =
  "/\\b(now\\s*\\(|current_(date|time)|local_?time|(clock|statement|transaction)_timestamp)/i";
const SQL_CLOCK = {
  selector: `:matches(TemplateElement[value.raw=${SQL_TIME}], Literal[value=${SQL_TIME}])`,
  message: "Pass `now` to the statement.",
};

const LAZY_IMPORT = {
  selector: "ImportExpression[source.value=/^[.]/]",
  message: "Import at the top, where the floors are checked.",
};

const ENVIRONMENT = ["env", "argv"].map((property) => ({
  object: "process",
  property,
  message: "Only cli.ts reads the environment and the arguments.",
}));

const PROCESS = ["process", "node:process"].map((name) => ({
  name,
  message: "Use the global, which is checked.",
}));

/** What may be imported for its types, which cost nothing when the service runs. */
const TYPES_ALONE = [
  ...["node:http", "http"].map((name) => ({
    name,
    message:
      "Import its types alone, with `import type`: on Node.js 24 loading it costs 14 MB before anything is served.",
  })),
  {
    name: "@fastify/type-provider-typebox",
    message:
      "Import its types alone, with `import type`, and values from typebox: its own code costs 6 to 11 MB.",
  },
];

/** Statements convert rows: no type that leaves `postgres/` has the columns' names. */
const ROWS = {
  selector:
    "ExportNamedDeclaration :matches(TSInterfaceDeclaration, TSTypeAliasDeclaration, FunctionDeclaration > .returnType) TSPropertySignature[key.name=/_/]",
  message: 'Name the member in camelCase, and select the column `as "camelCase"`.',
};

/** Refuses an import from a higher floor, or from a room beside. */
const floors = {
  create: (context) => {
    const from = placeOf(context.filename);
    return {
      ImportDeclaration: (node) => {
        if (!node.source.value.startsWith(".")) return;
        const to = placeOf(join(dirname(context.filename), node.source.value));
        if (!mayImport(from, to))
          context.report({ node, message: `${from.path} may not import ${to.path}: see FLOORS.` });
      },
    };
  },
};

const KEEPER = {
  group: ["**/keeper/**"],
  message: "A keeper's files are for its own process: root would run them as root.",
};

export default defineConfig(
  globalIgnores(["dist*/", "packages/*/dist/", ".data/", "src/client/schema.ts"]), // The last one is a generator's.
  js.configs.recommended,
  {
    files: ["**/*.{js,mjs}"],
    ignores: ["site/assets/**"],
    languageOptions: {
      globals: Object.fromEntries(
        ["AbortController", "Buffer", "URL", "console", "performance", "process"]
          .concat(["clearInterval", "clearTimeout", "setInterval", "setTimeout", "structuredClone"])
          .map((name) => [name, "readonly"]),
      ),
    },
  },
  {
    // Runs in readers' browsers.
    files: ["site/assets/**"],
    languageOptions: {
      globals: Object.fromEntries(
        ["ResizeObserver", "URL", "document", "fetch", "localStorage", "location", "navigator"]
          .concat(["URLSearchParams", "addEventListener", "scrollBy", "setTimeout"])
          .map((name) => [name, "readonly"]),
      ),
    },
  },
  {
    // What they have in common with Node.js, or tell apart.
    files: ["examples/fetch.mjs", "test/webhook/runtimes/**"],
    languageOptions: {
      globals: Object.fromEntries(
        ["Blob", "Bun", "Deno", "Response", "atob"].map((name) => [name, "readonly"]),
      ),
    },
  },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      eqeqeq: "error",
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...CLOCK, SQL_CLOCK, LAZY_IMPORT, LIMIT],
      "no-restricted-properties": ["error", ...ENVIRONMENT],
      "@typescript-eslint/no-restricted-imports": [
        "error",
        { paths: TYPES_ALONE.map((path) => ({ ...path, allowTypeImports: true })) },
      ],
      // `import { type T }` leaves an import behind that loads the module.
      "@typescript-eslint/no-import-type-side-effects": "error",
    },
  },
  {
    // The doors themselves. Partners' programs have no Clock to hand to verify.
    files: ["src/lib/clock.ts", "src/webhook/memory-store.ts", "src/webhook/verify.ts"],
    rules: { "no-restricted-syntax": ["error", SQL_CLOCK, LAZY_IMPORT, LIMIT] },
  },
  {
    files: ["src/postgres/**/*.ts"],
    rules: { "no-restricted-syntax": ["error", ...CLOCK, SQL_CLOCK, LAZY_IMPORT, LIMIT, ROWS] },
  },
  {
    // The one compares the database's clock with ours, the other with itself.
    files: ["src/postgres/database.ts", "src/jobs/maintenance-sql.ts"],
    rules: { "no-restricted-syntax": ["error", ...CLOCK, LAZY_IMPORT, LIMIT, ROWS] },
  },
  {
    files: ["src/start/cli.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...CLOCK, SQL_CLOCK, LIMIT],
      "no-restricted-properties": "off",
    },
  },
  {
    // Under trusted types the browser refuses markup from text. This tells it earlier.
    files: ["site/console/**", "site/desk/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Text of partners must not become markup.",
        },
      ],
    },
  },
  {
    files: ["src/**/*.ts"],
    rules: {
      "no-restricted-imports": ["error", { paths: PROCESS, patterns: [...pastPorts(), KEEPER] }],
    },
  },
  {
    files: ["test/**/*.ts", "bench/**/*.ts"],
    ignores: ["test/egress/**"],
    rules: { "no-restricted-imports": ["error", { patterns: pastPorts(["egress"]) }] },
  },
  {
    files: ["src/**/*.ts"],
    plugins: { house: { rules: { floors } } },
    rules: { "house/floors": "error" },
  },
  {
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", name: ["test", "describe", "it", "suite"], package: "node:test" },
          ],
        },
      ],
    },
  },
);

function placeOf(file) {
  const path = relative(join(import.meta.dirname, "src"), file);
  const floor = FLOORS.findIndex((one) => one.test(path));
  return { path, floor, room: FLOORS[floor]?.exec(path).slice(1).find(Boolean) };
}

function mayImport(from, to) {
  if (from.floor === to.floor) return from.room === to.room;
  return to.floor < from.floor && (PACKAGES[from.room] ?? [to.room]).includes(to.room);
}

function pastPorts(rooms = PORTS) {
  return rooms.map((room) => ({
    regex: `/${room}/(?!index\\.ts$)`,
    message: `src/${room} has one port: import its index.ts.`,
  }));
}
