import { hitsOf } from "./balance.ts";
import type { Run } from "./ledger.ts";
import type { Plan } from "./plan.ts";
import type { Harm } from "./services.ts";

/** A summary of the run as text. */
export function summarize({ seed, events }: Plan, run: Run): string {
  const { called, harms, arrivals, attempts, balance } = run;
  const ofKind = (kind: Harm["kind"]) => harms.filter((harm) => harm.kind === kind);
  const because = (kind: Harm["kind"]) =>
    balance.duplicates.filter((one) => one.because?.harm.kind === kind).length;
  const how = new Map<string, number>();
  for (const { because } of balance.duplicates) {
    if (because) how.set(because.how, (how.get(because.how) ?? 0) + 1);
  }
  const counts = (map: ReadonlyMap<string, number>) =>
    [...map]
      .sort()
      .map(([name, count]) => `${name} ${count}`)
      .join(", ");

  const resent = [...run.publications.sent.values()].filter((times) => times > 1).length;

  const rows: [string, string | number][] = [
    ["seed", seed],
    ["events accepted", `${called.accepted.length} of ${events}`],
    ["responses to callers", counts(called.answers)],
    ["published", `${run.publications.answers.size} keys: ${counts(run.publications.byWay)}`],
    [
      "publishers",
      `killed ${run.publisherKills} times; keys sent again after a lost answer ${resent}, ` +
        `of which had an event already ${run.publications.duplicates}`,
    ],
    ["completely stored without a response", balance.unanswered],
    ["deliveries", counts(balance.ends)],
    ["attempts recorded / requests seen", `${attempts} / ${arrivals}`],
    [
      "killed",
      `services ${ofKind("kill").length}, of which ${hitsOf(balance, "kill")} during an attempt; ` +
        `PostgreSQL ${ofKind("database").length}`,
    ],
    ["slept past the lease", `${ofKind("pause").length}`],
    [
      "duplicates",
      `${balance.duplicates.length}, explained by a kill ${because("kill")}, a pause ${because("pause")}, ` +
        `PostgreSQL away ${because("database")}, a busy machine ${because("late")}`,
    ],
    ["… their outcomes", counts(how)],
    ["repeated on a fresh connection", balance.repeats],
    ["lost", balance.lost.length],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}
