import { useState } from "preact/hooks";
import { call } from "../api/call.ts";
import type { Redelivery } from "../api/shapes.ts";
import { useAction } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { plural } from "../components/numbers.ts";
import { Failure, Loading } from "../components/states.tsx";
import { go, recordAddress } from "../place.ts";
import { FilterWords } from "./filter-words.tsx";
import { Preview, Rate, toSend } from "./preview.tsx";
import { jobFilter, usePreview } from "./send-again-dialog.tsx";

type Action = "attempt_now" | "cancel";

const WORDS = {
  attempt_now: { open: "Attempt now…", title: "Attempt what waits", verb: "Attempt", rate: 50 },
  cancel: { open: "Cancel waiting…", title: "Cancel what waits", verb: "Cancel", rate: 1000 },
} as const;

/** Opens the dialog that attempts or cancels everything that waits of a search. */
export function WaitingJobButton({
  action,
  filter,
}: {
  action: Action;
  filter: Record<string, string>;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class={`button ${action === "cancel" ? "danger" : ""}`}
        onClick={() => setIsOpen(true)}
      >
        <Icon name={action === "cancel" ? "ban" : "play"} size={14} />
        {WORDS[action].open}
      </button>
      {isOpen && (
        <WaitingJobDialog action={action} filter={filter} onClose={() => setIsOpen(false)} />
      )}
    </>
  );
}

function WaitingJobDialog({
  action,
  filter,
  onClose,
}: {
  action: Action;
  filter: Record<string, string>;
  onClose: () => void;
}) {
  const { title, verb, rate: usual } = WORDS[action];
  const [rate, setRate] = useState<number>(usual);
  const [reason, setReason] = useState("");
  const asked = {
    action,
    filter: { ...jobFilter(filter), state: "waiting" },
    rate_per_second: rate,
  };
  const { preview, error } = usePreview(asked);
  const [start, isStarting] = useAction(async () => {
    const why = action === "cancel" ? { reason } : {};
    const job = await call<Redelivery>("POST", "redeliveries", { ...asked, ...why });
    onClose();
    go(recordAddress("redeliveries", job.id));
  });
  const isSilent = action === "cancel" && reason.trim() === "";
  return (
    <Dialog title={title} wide onClose={onClose}>
      <FilterWords filter={asked.filter} />
      <div class="filters">
        {action === "cancel" && (
          <Field
            label="Reason, which stays with each delivery"
            value={reason}
            required
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
        )}
        <Rate value={rate} set={setRate} />
      </div>
      {error && <Failure error={error} />}
      {!preview && !error && <Loading />}
      {preview && <Preview preview={preview} rate={rate} action={action} />}
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          Go back
        </button>
        <button
          type="button"
          class={`button main ${action === "cancel" ? "danger" : ""}`}
          disabled={!preview || toSend(preview) === 0 || isSilent}
          aria-busy={isStarting}
          onClick={() => start()}
        >
          {preview ? `${verb} ${plural(toSend(preview), "delivery", "deliveries")}` : verb}
        </button>
      </div>
    </Dialog>
  );
}
