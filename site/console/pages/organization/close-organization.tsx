import { call } from "../../api/call.ts";
import type { Organization } from "../../api/shapes.ts";
import { Button } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { useReport } from "../../components/toasts.tsx";
import { go } from "../../place.ts";

export function CloseOrganization({
  organization: { id, slug },
  onClosed,
}: {
  organization: Organization;
  onClosed: () => void;
}) {
  const confirmed = useConfirm();
  const { say } = useReport();
  const close = async () => {
    const isAgreed = await confirmed({
      title: `Close ${slug} permanently?`,
      effect:
        "All of its keys are revoked, its subscriptions deleted and its queued deliveries cancelled. " +
        "Its history stays until the retention ends. Its slug cannot be used again. This cannot be undone.",
      yes: "Close organization",
      isDangerous: true,
    });
    if (!isAgreed) return;
    await call("DELETE", `organizations/${id}`);
    onClosed();
    go("#/organizations");
    say(`${slug} is closed.`);
  };
  return (
    <Button act={close} kind="danger">
      Close…
    </Button>
  );
}
