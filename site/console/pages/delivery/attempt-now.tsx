import { call } from "../../api/call.ts";
import type { DeliveryDetail } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Panel } from "../../components/panel.tsx";
import { useReport } from "../../components/toasts.tsx";

/** Makes a waiting delivery due. */
export function AttemptNow({
  delivery: { id, attempts, held_at: heldAt, subscription },
  onChanged,
}: {
  delivery: DeliveryDetail;
  onChanged: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const act = async () => {
    const isAgreed = await confirmed({
      title: "Attempt this delivery now?",
      effect: `It becomes due. This is attempt ${attempts + 1}, and the schedule goes on from it.`,
      subject: subscription.url,
      yes: "Attempt now",
    });
    if (!isAgreed) return;
    await call("POST", `deliveries/${id}/attempt`);
    onChanged();
    say("The delivery is due now.");
  };
  return (
    <Panel title="Attempt now" note={heldAt ? "its subscription is held" : undefined}>
      {heldAt ? (
        <p class="quiet">Release the subscription first.</p>
      ) : (
        <Button act={act} icon="play">
          Attempt now
        </Button>
      )}
    </Panel>
  );
}
