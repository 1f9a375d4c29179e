import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** Copies a text. `label` is for a button with words; without it, it is a small icon. */
export function Copy({ text, what, label }: { text: string; what: string; label?: string }) {
  const [isDone, setIsDone] = useState(false);
  const copy = async () => {
    await write(text);
    setIsDone(true);
    setTimeout(() => setIsDone(false), 2_000);
  };
  return (
    <button
      type="button"
      class={label ? "button" : "copy"}
      aria-label={label ? undefined : `Copy ${what}`}
      title={label ? undefined : `Copy ${what}`}
      onClick={() => void copy()}
    >
      <Icon name={isDone ? "check" : "copy"} size={14} />
      {label && (isDone ? "Copied" : label)}
    </button>
  );
}

/** Browsers offer the clipboard only on https and on loopback addresses. */
async function write(text: string): Promise<void> {
  if ("clipboard" in navigator) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text });
  document.body.append(area);
  area.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- There is no other way on plain http.
  document.execCommand("copy");
  area.remove();
}
