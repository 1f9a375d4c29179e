import { call } from "../../api/call.ts";
import type { Subscription } from "../../api/shapes.ts";
import { useAction } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Field, valuesOf } from "../../components/field.tsx";
import { plural } from "../../components/numbers.ts";
import { Panel } from "../../components/panel.tsx";
import { useReport } from "../../components/toasts.tsx";

/** The most attempts a second, which an operator sets to spare a receiver. */
export function Ceiling({
  subscription: { id, max_per_second: ceiling = null },
  mayChange,
  onChanged,
}: {
  subscription: Subscription;
  mayChange: boolean;
  onChanged: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const [change, isChanging] = useAction(async (form: HTMLFormElement) => {
    const written = valuesOf(form).ceiling;
    const wanted = written === undefined ? null : Number(written);
    const isAgreed = await confirmed({
      title: wanted === null ? "Remove the ceiling?" : "Set a ceiling?",
      effect:
        wanted === null
          ? "The attempts a second then have no limit. The number of attempts at the same time stays limited."
          : `The receiver gets at most ${plural(wanted, "attempt")} a second. Deliveries above it wait, and nothing is lost.`,
      subject: id,
      yes: wanted === null ? "Remove ceiling" : "Set ceiling",
    });
    if (!isAgreed) return;
    await call("PATCH", `subscriptions/${id}`, { max_per_second: wanted });
    onChanged();
    say(wanted === null ? "The ceiling is removed." : `The ceiling is ${wanted} a second.`);
  });
  const now = ceiling === null ? "none is set" : `at most ${plural(ceiling, "attempt")} a second`;
  return (
    <Panel title="Ceiling" note={now}>
      {mayChange && (
        <form
          key={ceiling}
          class="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            change(event.currentTarget);
          }}
        >
          <Field
            label="Attempts a second"
            name="ceiling"
            type="number"
            min={1}
            max={10_000}
            placeholder="no ceiling"
            defaultValue={ceiling === null ? "" : String(ceiling)}
          />
          <button class="button" aria-busy={isChanging}>
            Set ceiling
          </button>
        </form>
      )}
    </Panel>
  );
}
