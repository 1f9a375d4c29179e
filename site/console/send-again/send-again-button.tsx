import { useState } from "preact/hooks";
import { Icon } from "../components/icon.tsx";
import { SendAgainDialog } from "./send-again-dialog.tsx";

/** Opens the dialog that sends everything again that a filter shows. */
export function SendAgainButton({
  filter,
  kind = "",
}: {
  filter: Record<string, string>;
  kind?: string;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class={`button ${kind}`} onClick={() => setIsOpen(true)}>
        <Icon name="send" size={14} />
        Send again…
      </button>
      {isOpen && <SendAgainDialog filter={filter} onClose={() => setIsOpen(false)} />}
    </>
  );
}
