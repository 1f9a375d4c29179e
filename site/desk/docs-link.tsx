import type { ComponentChildren } from "preact";
import { DOCS } from "./service.ts";

/** A link to the documentation, in a tab of its own: this one holds the key, and perhaps a new secret. */
export function DocsLink({ to = "", children }: { to?: string; children: ComponentChildren }) {
  return (
    <a href={DOCS + to} target="_blank" rel="noopener">
      {children}
    </a>
  );
}
