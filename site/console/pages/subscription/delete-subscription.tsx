import { call } from "../../api/call.ts";
import type { Subscription } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { useReport } from "../../components/toasts.tsx";
import { go } from "../../place.ts";

export function DeleteSubscription({ subscription: { id, url } }: { subscription: Subscription }) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const remove = async () => {
    const isAgreed = await confirmed({
      title: "Delete this subscription?",
      effect:
        "Its queued deliveries are cancelled and its signing secret is erased. Its history stays until the retention ends, for operators only. This cannot be undone.",
      subject: url,
      yes: "Delete subscription",
      isDangerous: true,
    });
    if (!isAgreed) return;
    await call("DELETE", `subscriptions/${id}`);
    go("#/subscriptions");
    say(`${id} is deleted.`);
  };
  return (
    <Button act={remove} kind="danger">
      Delete…
    </Button>
  );
}
