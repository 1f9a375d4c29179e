/** The filter of a job in words. */
export function FilterWords({ filter }: { filter: Record<string, string | null> }) {
  return (
    <ul class="marks" aria-label="Filter">
      {Object.entries(filter).map(
        ([name, value]) =>
          value !== null && (
            <li key={name}>
              {name} <code>{value}</code>
            </li>
          ),
      )}
    </ul>
  );
}
