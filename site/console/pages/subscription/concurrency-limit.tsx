import type { Process } from "../../api/shapes.ts";
import { useQuery } from "../../api/use-query.ts";
import { count } from "../../components/numbers.ts";
import { useSession } from "../../session/session.tsx";

const REFRESH_MS = 10_000;
/** Processes report so many of their lowest limits. */
const REPORTED = 100;

/** The limit of attempts at once in each process. One that is not among the lowest is between two numbers. */
export function ConcurrencyLimit({ id }: { id: string }) {
  const { data } = useQuery<{ items: Process[] }>("processes", REFRESH_MS);
  const { concurrency } = useSession();
  const dispatchers = (data?.items ?? []).filter(
    ({ state, role }) => state !== "gone" && role !== "api",
  );
  if (dispatchers.length === 0) return <span class="quiet">–</span>;
  return (
    <>
      {dispatchers
        .map(({ host, pid, slowed }) => `${host} ${pid}: ${limitIn(slowed, id, concurrency)}`)
        .join("; ")}
    </>
  );
}

function limitIn(
  slowed: Process["slowed"],
  id: string,
  { initial, max }: { initial: number; max: number } = { initial: 1, max: Infinity },
): string {
  const own = slowed.find(({ subscription }) => subscription === id);
  if (own) return `${own.limit} at once, lowered because attempts got no answer`;
  const isCut = slowed.length >= REPORTED;
  const least = isCut ? Math.max(...slowed.map(({ limit }) => limit)) : initial;
  return max === Infinity ? `${least} or more at once` : `${range(least, max)} at once`;
}

const range = (least: number, most: number): string =>
  least === most ? count(most) : `${count(least)} to ${count(most)}`;
