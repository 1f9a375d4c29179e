import type { Process } from "../../api/shapes.ts";
import { useQuery } from "../../api/use-query.ts";

const REFRESH_MS = 10_000;

/** The lowered limits of attempts at once. Processes report the hundred lowest. */
export function ConcurrencyLimit({ id }: { id: string }) {
  const { data } = useQuery<{ items: Process[] }>("processes", REFRESH_MS);
  const limits = (data?.items ?? []).flatMap(({ host, pid, state, slowed }) =>
    state === "gone"
      ? []
      : slowed
          .filter(({ subscription }) => subscription === id)
          .map(({ limit }) => `${limit} at once in ${host} ${pid}`),
  );
  if (data === null) return <span class="quiet">–</span>;
  return <>{limits.length === 0 ? "not lowered" : limits.join(", ")}</>;
}
