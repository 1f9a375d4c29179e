import { useEffect, useState } from "preact/hooks";
import { call } from "../api/call.ts";
import { Problem } from "../api/problem.ts";
import type { Redelivery, RedeliveryPreview } from "../api/shapes.ts";
import { useAction } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Choice } from "../components/field.tsx";
import { plural } from "../components/numbers.ts";
import { Failure, Loading } from "../components/states.tsx";
import { go, recordAddress } from "../place.ts";
import { FilterWords } from "./filter-words.tsx";
import { Preview, Rate, toSend } from "./preview.tsx";
import { useTargets } from "./use-targets.ts";

const RATE_DEFAULT = 50;
const PAUSE_MS = 250;

const STATES = {
  dead_lettered: "dead_lettered",
  cancelled: "cancelled",
  delivered: "delivered, for a receiver that lost data",
};

/** The filters that a job keeps of a search. */
const JOB_FILTERS = ["organization", "subscription", "reason", "event", "since", "until"];

export function jobFilter(search: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(search).filter(([name]) => JOB_FILTERS.includes(name)));
}

/** Shows what would be sent again, and starts the job. */
export function SendAgainDialog({
  filter,
  onClose,
}: {
  filter: Record<string, string>;
  onClose: () => void;
}) {
  const [state, setState] = useState(filter.state ?? "dead_lettered");
  const [to, setTo] = useState("");
  const [rate, setRate] = useState(RATE_DEFAULT);
  const targets = useTargets(filter);
  const asked = {
    filter: { ...jobFilter(filter), state },
    ...(to === "" ? {} : { to }),
    rate_per_second: rate,
  };
  const { preview, error } = usePreview(asked);
  const [start, isStarting] = useAction(async () => {
    const job = await call<Redelivery>("POST", "redeliveries", asked);
    onClose();
    go(recordAddress("redeliveries", job.id));
  });

  return (
    <Dialog title="Send again" wide onClose={onClose}>
      <FilterWords filter={asked.filter} />
      <div class="filters">
        <Choice
          label="State of the deliveries"
          options={STATES}
          chosen={state}
          onChange={({ currentTarget }) => setState(currentTarget.value)}
        />
        <Choice
          label="To"
          none="their own subscriptions"
          options={targets}
          chosen={to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
        />
        <Rate value={rate} set={setRate} />
      </div>
      {error && <Failure error={error} />}
      {!preview && !error && <Loading />}
      {preview && <Preview preview={preview} rate={rate} action="redeliver" />}
      <div class="buttons">
        <button type="button" class="button" onClick={onClose}>
          Go back
        </button>
        <button
          type="button"
          class="button main"
          disabled={!preview || toSend(preview) === 0}
          aria-busy={isStarting}
          onClick={() => start()}
        >
          {preview
            ? `Send ${plural(toSend(preview), "delivery", "deliveries")} again`
            : "Send again"}
        </button>
      </div>
    </Dialog>
  );
}

/** The preview of a job, requested again a moment after each change. */
export function usePreview(asked: object) {
  const [shown, setShown] = useState<{
    preview: RedeliveryPreview | null;
    error: Problem | null;
  }>({ preview: null, error: null });
  const body = JSON.stringify({ ...asked, dry_run: true });
  useEffect(() => {
    const stop = new AbortController();
    setShown({ preview: null, error: null });
    const timer = setTimeout(() => {
      call<RedeliveryPreview>("POST", "redeliveries", JSON.parse(body), stop.signal).then(
        (preview) => setShown({ preview, error: null }),
        (error: unknown) => {
          if (error instanceof Problem) setShown({ preview: null, error });
        },
      );
    }, PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [body]);
  return shown;
}
