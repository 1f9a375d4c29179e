import { DOCS_BASE_URL } from "../src/http/docs/site.ts";
import { readCompiled, readSource } from "./source.ts";

/** Files that partners can download from /docs/files/, by name. */
const FILES: Record<string, () => string> = {
  // The library as a single module. Its modules import only types from each other.
  "webhook.mjs": () =>
    ["verify", "handle-once", "memory-store"]
      .map((name) => readCompiled(`src/webhook/${name}.js`))
      .join("\n"),
  "partner-api.http": () =>
    readSource("examples/partner-api.http").replace("http://127.0.0.1:8080", DOCS_BASE_URL),
  "receiver.mjs": () => readSource("site/samples/receiver.mjs"),
  "receiver.py": () => readSource("site/samples/receiver.py"),
  "receiver.go": () => readSource("site/samples/receiver.go"),
  ...Object.fromEntries(
    ["verify.py", "verify.go", "verify.php", "verify.rb"].map((name) => [
      name,
      () => readSource(`examples/${name}`),
    ]),
  ),
};

export function downloads(): { name: string; content: string }[] {
  return Object.entries(FILES).map(([name, read]) => ({ name, content: read() }));
}

/** The download name of a file of the checkout, if it has one. */
export function downloadOf(file: string): string | undefined {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name in FILES ? name : undefined;
}
