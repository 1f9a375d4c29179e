import { call } from "../../api/call.ts";
import type { Subscription } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { plural } from "../../components/numbers.ts";
import { useReport } from "../../components/toasts.tsx";

/** Holds a subscription while its receiver is repaired, or releases it. */
export function Hold({
  subscription: { id, url, held_at: heldAt = null, max_per_second: ceiling = null },
  onChanged,
}: {
  subscription: Subscription;
  onChanged: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const isHeld = heldAt !== null;
  const pace = ceiling === null ? "at once" : `at most ${plural(ceiling, "attempt")} a second`;
  const change = async () => {
    const isAgreed = await confirmed({
      title: isHeld ? "Release this subscription?" : "Hold this subscription?",
      effect: isHeld
        ? `What is due is attempted ${pace}. To release it at another pace, set the ceiling first.`
        : "Attempts stop and those in flight end. Everything is kept, nothing counts as a failure, and the partner sees no difference.",
      subject: url,
      yes: isHeld ? "Release" : "Hold",
    });
    if (!isAgreed) return;
    await call("PATCH", `subscriptions/${id}`, { held: !isHeld });
    onChanged();
    say(isHeld ? "The subscription is released." : "The subscription is held.");
  };
  return (
    <Button act={change} icon={isHeld ? "play" : "pause"}>
      {isHeld ? "Release…" : "Hold…"}
    </Button>
  );
}
