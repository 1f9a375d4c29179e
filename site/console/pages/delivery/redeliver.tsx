import { call } from "../../api/call.ts";
import type { Delivery, DeliveryDetail } from "../../api/shapes.ts";
import { useAction } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Field, valuesOf } from "../../components/field.tsx";
import { Panel } from "../../components/panel.tsx";
import { go, recordAddress } from "../../place.ts";

/** Sends one finished delivery again. */
export function Redeliver({ delivery }: { delivery: DeliveryDetail }) {
  const confirmed = useConfirm();
  const { subscription, redelivered_as: before } = delivery;
  const isTargetNeeded = Boolean(subscription.deleted_at ?? subscription.auto_disabled_at);
  const [send, isSending] = useAction(async (form: HTMLFormElement) => {
    const { to } = valuesOf(form);
    const isAgreed = await confirmed({
      title: "Send this event again?",
      effect:
        `A new delivery of ${delivery.event_id} goes to ${to ?? "its own subscription"}, with attempts from 1.` +
        (before ? " It was sent again already: the receiver may get it once more." : ""),
      subject: to === undefined ? subscription.url : null,
      yes: "Redeliver now",
    });
    if (!isAgreed) return;
    const made = await call<Delivery>("POST", `deliveries/${delivery.id}/redeliver`, { to });
    go(recordAddress("deliveries", made.id));
  });
  return (
    <Panel
      title="Redeliver"
      note={isTargetNeeded ? "its own subscription is not active" : undefined}
    >
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          send(event.currentTarget);
        }}
      >
        <Field
          label={`To another subscription${isTargetNeeded ? "" : " (optional)"}`}
          name="to"
          placeholder="wh_…"
          required={isTargetNeeded}
        />
        <button class="button" aria-busy={isSending}>
          Redeliver
        </button>
      </form>
    </Panel>
  );
}
