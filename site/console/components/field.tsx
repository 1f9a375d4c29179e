import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

type InputEventOf<T> = Event & { currentTarget: T };

interface InputProps {
  name?: string;
  type?: "text" | "password" | "number" | "datetime-local";
  value?: string;
  defaultValue?: string | undefined;
  placeholder?: string;
  required?: boolean;
  min?: number;
  max?: number;
  autocomplete?: string;
  /** Values to choose from. Others may be written, too. */
  options?: readonly string[];
  onInput?: (event: InputEventOf<HTMLInputElement>) => void;
}

export function Field({
  label,
  hint,
  type = "text",
  autocomplete = "off",
  options = [],
  ...input
}: { label: string; hint?: ComponentChildren } & InputProps) {
  const id = useId();
  const list = options.length > 0 ? { list: `${id}-options` } : {};
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...({ ...input, ...list, type } as JSX.IntrinsicElements["input"])}
        id={id}
        autocomplete={autocomplete}
        spellcheck={false}
        aria-describedby={hint ? `${id}-hint` : undefined}
      />
      {options.length > 0 && (
        <datalist id={`${id}-options`}>
          {options.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
      {hint && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

/** A choice of one. `none` stands for no choice. */
export function Choice({
  label,
  options,
  none,
  chosen = "",
  name,
  required = false,
  onChange,
}: {
  label: string;
  options: Record<string, string>;
  none?: string;
  chosen?: string | undefined;
  name?: string;
  required?: boolean;
  onChange?: (event: InputEventOf<HTMLSelectElement>) => void;
}) {
  const id = useId();
  const lines = Object.entries(options);
  if (none !== undefined) lines.unshift(["", none]);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} name={name} required={required} onChange={onChange}>
        {lines.map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** The filled-in values of a form, by name. Empty ones are left out. */
export function valuesOf(form: HTMLFormElement): Record<string, string> {
  const filled = [...new FormData(form)].map(
    ([name, value]) => [name, typeof value === "string" ? value.trim() : ""] as const,
  );
  return Object.fromEntries(filled.filter(([, value]) => value !== ""));
}
