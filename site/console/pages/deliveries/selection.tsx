import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { Problem } from "../../api/problem.ts";
import type { Delivery } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { shorten } from "../../components/id.tsx";
import { plural } from "../../components/numbers.ts";
import type { Column } from "../../components/table.tsx";
import { useReport } from "../../components/toasts.tsx";

/** The rows of a list that an operator has chosen. */
export function useSelection() {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setIds(
      (before) =>
        new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]),
    );
  const column: Column<Delivery> = {
    title: "Choose",
    show: ({ id, state }) =>
      state !== "delivered" && (
        <input
          type="checkbox"
          aria-label={`Choose ${shorten(id)}`}
          checked={ids.has(id)}
          onChange={() => toggle(id)}
        />
      ),
  };
  return { ids, column, clear: () => setIds(new Set()) };
}

/** What can be done with the chosen ones: those that wait are attempted now, the others are sent again. */
export function SelectionActions({ chosen, onDone }: { chosen: Delivery[]; onDone: () => void }) {
  const waiting = chosen.filter(({ state }) => state === "waiting");
  const ended = chosen.filter(({ state }) => state !== "waiting");
  if (chosen.length === 0) return null;
  return (
    <div class="buttons" role="group" aria-label="Chosen deliveries">
      {waiting.length > 0 && (
        <EachButton
          of={waiting}
          path="attempt"
          label={`Attempt ${plural(waiting.length, "delivery", "deliveries")} now`}
          effect="Each becomes due and keeps its number of attempts."
          onDone={onDone}
        />
      )}
      {ended.length > 0 && (
        <EachButton
          of={ended}
          path="redeliver"
          label={`Send ${plural(ended.length, "delivery", "deliveries")} again`}
          effect="The event of each goes to its own subscription as a new delivery."
          onDone={onDone}
        />
      )}
    </div>
  );
}

function EachButton({
  of,
  path,
  label,
  effect,
  onDone,
}: {
  of: Delivery[];
  path: string;
  label: string;
  effect: string;
  onDone: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const act = async () => {
    if (!(await confirmed({ title: `${label}?`, effect, yes: label }))) return;
    const refusals: string[] = [];
    for (const { id } of of) {
      await call("POST", `deliveries/${id}/${path}`, {}).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error;
        refusals.push(`${shorten(id)}: ${error.message}`);
      });
    }
    onDone();
    const done = plural(of.length - refusals.length, "delivery", "deliveries");
    say(refusals.length === 0 ? `Done: ${done}.` : `Done: ${done}. ${refusals.join(" ")}`);
  };
  return <Button act={act}>{label}</Button>;
}
