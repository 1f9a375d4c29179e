/** A choice of one among a few, as buttons in a row. */
export function Segments<T extends string>({
  label,
  options,
  value,
  choose,
}: {
  label: string;
  options: Record<T, string>;
  value: T;
  choose: (value: T) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {(Object.keys(options) as T[]).map((option) => (
        <button
          key={option}
          type="button"
          class="button"
          aria-pressed={option === value}
          onClick={() => choose(option)}
        >
          {options[option]}
        </button>
      ))}
    </div>
  );
}
