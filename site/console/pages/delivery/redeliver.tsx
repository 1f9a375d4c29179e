import { call } from "../../api/call.ts";
import type { Delivery, DeliveryDetail } from "../../api/shapes.ts";
import { useAction } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Choice, valuesOf } from "../../components/field.tsx";
import { Panel } from "../../components/panel.tsx";
import { go, recordAddress } from "../../place.ts";
import { useTargets } from "../../send-again/use-targets.ts";

/** Sends one finished delivery again. */
export function Redeliver({ delivery }: { delivery: DeliveryDetail }) {
  const confirmed = useConfirm();
  const { subscription, redelivered_as: before } = delivery;
  const targets = useTargets({ organization: subscription.organization_slug });
  const others = Object.fromEntries(
    Object.entries(targets).filter(([id]) => id !== delivery.subscription_id),
  );
  const isTargetNeeded = Boolean(subscription.deleted_at ?? subscription.auto_disabled_at);
  const [send, isSending] = useAction(async (form: HTMLFormElement) => {
    const { to } = valuesOf(form);
    const isAgreed = await confirmed({
      title: "Send this event again?",
      effect:
        `A new delivery of ${delivery.event_id} goes to ${to === undefined ? "its own subscription" : (others[to] ?? to)}. Its attempts start at number 1.` +
        (before ? " The event was sent again before: the receiver may get it once more." : ""),
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
        <Choice
          label="To"
          name="to"
          none={isTargetNeeded ? "choose a subscription" : "its own subscription"}
          options={others}
          required={isTargetNeeded}
        />
        <button class="button" aria-busy={isSending}>
          Redeliver
        </button>
      </form>
    </Panel>
  );
}
