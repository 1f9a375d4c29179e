import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/problem.ts";
import { Icon, type IconName } from "./icon.tsx";

const PATIENCE_MS = 150;

/** Grey lines while something is read. A quick answer shows none of them. */
export function Loading({ lines = 4 }: { lines?: number }) {
  const [isLate, setIsLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="facts" aria-busy="true" role="group" aria-label="Loading">
      {isLate &&
        Array.from({ length: lines }, (_, line) => [
          <span class="bone" style={{ width: "6rem" }} />,
          <span class="bone" style={{ width: `${80 - ((line * 17) % 45)}%` }} />,
        ])}
    </div>
  );
}

export function Empty({
  icon = "search",
  title,
  isFirst = false,
  children,
}: {
  icon?: IconName;
  title: string;
  /** True if no panel with a title stands around it. */
  isFirst?: boolean;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      {isFirst ? <h2>{title}</h2> : <h3>{title}</h3>}
      {children}
    </div>
  );
}

/** Says that a list lacks what these cells hold. */
export function Missing({ cells, retry }: { cells: string[]; retry: () => void }) {
  return (
    <div class="alert warn" role="status">
      <Icon name="warning" />
      <p>{noAnswerOf(cells)}: its items are missing here.</p>
      <button type="button" class="button small" onClick={retry}>
        Try again
      </button>
    </div>
  );
}

export function noAnswerOf(cells: string[]): string {
  return `No answer from cell ${cells.join(", ")}`;
}

/** The error, in the service's words. `asOf` is the time of the data that is still shown. */
export function Failure({
  error,
  asOf = null,
  retry,
  hope = "The console tries again by itself.",
}: {
  error: Problem;
  asOf?: Date | null;
  retry?: () => void;
  /** What follows a temporary error. */
  hope?: string;
}) {
  const alert = useRef<HTMLDivElement>(null);
  useLayoutEffect(
    () => () => {
      const hasFocus = alert.current?.contains(document.activeElement);
      if (hasFocus) document.querySelector("h1")?.focus(); // "Try again" goes with the error.
    },
    [],
  );
  return (
    <div ref={alert} class={`alert ${error.isTemporary ? "warn" : ""}`} role="alert">
      <Icon name="warning" />
      <p>
        {error.message}
        {asOf && ` What you see is from ${asOf.toLocaleTimeString()}.`}
        {error.isTemporary && ` ${hope}`}
        {error.requestId && <span class="visually-hidden"> Request {error.requestId}</span>}
      </p>
      {retry && (
        <button type="button" class="button small" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
