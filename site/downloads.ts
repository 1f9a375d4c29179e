import { DOCS_BASE_URL } from "../src/http/docs/manifest.ts";
import { readCompiled, readSource } from "./source.ts";

/** Files that partners may fetch as they are, by their names below /docs/files/. */
const FILES: Record<string, () => string> = {
  // The whole library: its modules import only types of each other, so that they make one that imports nothing.
  "webhook.mjs": () =>
    ["verify", "handle-once", "memory-store"]
      .map((name) => readCompiled(`src/webhook/${name}.js`))
      .join("\n"),
  "partner-api.http": () =>
    readSource("examples/partner-api.http").replace("http://127.0.0.1:8080", DOCS_BASE_URL),
  "receiver.mjs": () => readSource("site/samples/receiver.mjs"),
  "receiver.py": () => readSource("site/samples/receiver.py"),
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

/** The name under which a file of the checkout may be fetched, if it may. */
export function downloadOf(file: string): string | undefined {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name in FILES ? name : undefined;
}
