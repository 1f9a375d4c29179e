import { IdLink } from "../components/id.tsx";

/** The filter of a job in words. Its ids lead to their pages. */
export function FilterWords({ filter }: { filter: Record<string, string | null> }) {
  return (
    <ul class="marks" aria-label="Filter">
      {Object.entries(filter).map(
        ([name, value]) =>
          value !== null && (
            <li key={name}>
              <span class="tight">{name}</span> <IdLink id={value} />
            </li>
          ),
      )}
    </ul>
  );
}
