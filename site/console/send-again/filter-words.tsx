/** The filter of a job in words. */
export function FilterWords({ filter }: { filter: Record<string, string> }) {
  return (
    <ul class="marks" aria-label="Filter">
      {Object.entries(filter).map(([name, value]) => (
        <li key={name}>
          {name} <code>{value}</code>
        </li>
      ))}
    </ul>
  );
}
