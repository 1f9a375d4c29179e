import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import type { Subscription } from "../../api/shapes.ts";
import { useAction } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, valuesOf } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { useReport } from "../../components/toasts.tsx";

/** Opens the dialog that releases a held subscription at a pace. */
export function Release({
  subscription,
  onChanged,
}: {
  subscription: Subscription;
  onChanged: () => void;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" class="button" onClick={() => setIsOpen(true)}>
        <Icon name="play" size={14} />
        Release…
      </button>
      {isOpen && (
        <ReleaseDialog
          subscription={subscription}
          onClose={() => setIsOpen(false)}
          onChanged={onChanged}
        />
      )}
    </>
  );
}

function ReleaseDialog({
  subscription: { id, url, max_per_second: ceiling = null },
  onClose,
  onChanged,
}: {
  subscription: Subscription;
  onClose: () => void;
  onChanged: () => void;
}) {
  const { say } = useReport();
  const [release, isReleasing] = useAction(async (form: HTMLFormElement) => {
    const { pace } = valuesOf(form);
    const wanted = pace === undefined ? null : Number(pace);
    const change = { held: false, ...(wanted === ceiling ? {} : { max_per_second: wanted }) };
    await call("PATCH", `subscriptions/${id}`, change);
    onClose();
    onChanged();
    say("The subscription is released.");
  });
  return (
    <Dialog title="Release this subscription?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          release(event.currentTarget);
        }}
      >
        <p>What is due is attempted at this pace, and without one at once.</p>
        <p class="quiet">{url}</p>
        <Field
          label="Attempts a second, its ceiling from now on"
          name="pace"
          type="number"
          min={1}
          max={10_000}
          placeholder="no ceiling"
          defaultValue={ceiling === null ? "" : String(ceiling)}
        />
        <div class="buttons">
          <button type="button" class="button" onClick={onClose}>
            Go back
          </button>
          <button class="button main" aria-busy={isReleasing}>
            Release
          </button>
        </div>
      </form>
    </Dialog>
  );
}
