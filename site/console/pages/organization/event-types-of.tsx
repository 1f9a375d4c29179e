import type { Subscription } from "../../api/shapes.ts";
import { plural } from "../../components/numbers.ts";
import { addressOf } from "../../place.ts";

/** The types that these subscriptions list, the most listed first. */
export function EventTypesOf({ subscriptions }: { subscriptions: Subscription[] }) {
  const counts = new Map<string, number>();
  for (const { events } of subscriptions) {
    for (const type of events) counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  if (counts.size === 0) return <p class="quiet">No active subscription lists a type.</p>;
  const ordered = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b));
  return (
    <ul class="marks">
      {ordered.map(([type, listed]) => (
        <li key={type}>
          <a class="id" href={addressOf("deliveries", { event: type })}>
            {type}
          </a>
          {plural(listed, "subscription")}
        </li>
      ))}
    </ul>
  );
}
