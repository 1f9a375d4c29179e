import { call } from "../../api/call.ts";
import type { Subscription } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { useReport } from "../../components/toasts.tsx";

/** Holds a subscription while its receiver is repaired. */
export function Hold({
  subscription: { id, url },
  onChanged,
}: {
  subscription: Subscription;
  onChanged: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const hold = async () => {
    const isAgreed = await confirmed({
      title: "Hold this subscription?",
      effect:
        "Attempts stop and those in flight end. Everything is kept, nothing counts as a failure, and the partner sees no difference.",
      subject: url,
      yes: "Hold",
    });
    if (!isAgreed) return;
    await call("PATCH", `subscriptions/${id}`, { held: true });
    onChanged();
    say("The subscription is held.");
  };
  return (
    <Button act={hold} icon="pause">
      Hold…
    </Button>
  );
}
