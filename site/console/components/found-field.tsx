import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { find } from "../api/find.ts";
import { Field } from "./field.tsx";

const PAUSE_MS = 120;

/** A field that offers the names of one kind that begin with its text. */
export function FoundField({ kind, ...field }: ComponentProps<typeof Field> & { kind: string }) {
  const [text, setText] = useState("");
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => {
    const asked = text.trim();
    if (asked === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      find(asked, stop.signal).then(
        ({ items }) => setNames(items.filter((one) => one.kind === kind).map(({ label }) => label)),
        () => undefined, // Names are only offered.
      );
    }, PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [text, kind]);
  return (
    <Field
      {...field}
      options={names}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}
