import type { ComponentChildren } from "preact";

/** Terms and their values. Empty ones are left out. */
export function Facts({ of }: { of: Record<string, ComponentChildren> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(
        ([term, fact]) =>
          fact !== null &&
          fact !== undefined &&
          fact !== false && [<dt>{term}</dt>, <dd>{fact}</dd>],
      )}
    </dl>
  );
}
