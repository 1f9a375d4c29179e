import fc from "fast-check";
import { type Described, knownId, often, right } from "./fitting.ts";
import { junkName, junkText, MARK } from "./junk.ts";

export function pathOf(pattern: string): fc.Arbitrary<string> {
  const parts = pattern
    .split("/")
    .map((part) =>
      isOpen(part) ? often(3, openPart(pattern, part), junkPart) : fc.constant(part),
    );
  const path = fc.tuple(...parts).map((found) => found.join("/"));
  return often(
    8,
    path,
    fc.tuple(path, fc.constantFrom(...BENDS)).map(([p, bend]) => bend(p)),
  );
}

/** Half of the ids are of the kind that the route expects. */
function openPart(pattern: string, part: string): fc.Arbitrary<unknown> {
  const any = right(part.replace(":", ""));
  return part === ":id" || part === ":name" ? fc.oneof(fc.constant(knownId(pattern)), any) : any;
}

/** Returns true if a segment of a route's path is a parameter. */
export function isOpen(part: string): boolean {
  return part.startsWith(":") || part === "*";
}

const junkPart = fc.oneof(
  fc.constantFrom(
    "..",
    ".",
    "%2e%2e",
    "%00",
    "%ff",
    "%zz",
    "",
    "*",
    ":id",
    "«foreign»",
    "«disabled»",
  ),
  junkText.map((text) => escape(text)),
);

const BENDS: ((path: string) => string)[] = [
  (path) => `${path}/`,
  (path) => `/${path}`,
  (path) => path.replaceAll("/", "//"),
  (path) => path.toUpperCase(),
  (path) => `/x/..${path}`,
  (path) => `/%2e%2e${path}`,
  (path) => path.replaceAll(/(?<=.)\//g, "%2f"),
  (path) => path.replaceAll("a", "%61"),
  (path) => `${path};${MARK}=1`,
  (path) => `${path}#${MARK}`,
  (path) => `${path}/${MARK}`,
  (path) => `http://${MARK}.example.com${path}`,
];

export function queryOf(schema: Described | undefined): fc.Arbitrary<string> {
  const known = Object.keys(schema?.properties ?? {});
  const name = known.length > 0 ? often(4, fc.constantFrom(...known), junkName) : junkName;
  const parameter = name.chain((key) =>
    often(2, right(key), junkText).map(
      (value) => `${encodeURIComponent(key)}=${encode(String(value))}`,
    ),
  );
  return fc.array(parameter, { maxLength: known.length > 0 ? 3 : 1 }).map((all) => all.join("&"));
}

/** Encodes everything but the placeholders. */
function encode(text: string): string {
  return text.startsWith("«") ? text : escape(text);
}

/** A URL cannot contain half a surrogate pair, so the replacement character stands in. */
export function escape(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}
