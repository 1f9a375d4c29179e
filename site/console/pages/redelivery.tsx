import { call } from "../api/call.ts";
import type { Redelivery } from "../api/shapes.ts";
import { useQuery } from "../api/use-query.ts";
import { StateBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { useConfirm } from "../components/confirm.tsx";
import { Copy } from "../components/copy.tsx";
import { Facts } from "../components/facts.tsx";
import { Figures } from "../components/figures.tsx";
import { IdLink } from "../components/id.tsx";
import { count, percent, plural } from "../components/numbers.ts";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Failure, Loading } from "../components/states.tsx";
import { Moment } from "../components/time.tsx";
import { FilterWords } from "../send-again/filter-words.tsx";
import { useMayChange } from "../session/session.tsx";

const REFRESH_MS = 1_000;
const PARENT = { label: "Redeliveries", href: "#/redeliveries" };

const WORDS = {
  redeliver: {
    done: "Sent again",
    skipped: "sent again already",
    failed: "the subscription is not active",
  },
  attempt_now: {
    done: "Made due",
    skipped: "due or in flight already",
    failed: "the subscription is held or not active",
  },
  cancel: { done: "Cancelled", skipped: "ended already", failed: "" },
};

/** The progress of a job. */
export function RedeliveryPage({ id }: { id: string }) {
  const { data, error, at, reload } = useQuery<Redelivery>(
    `redeliveries/${encodeURIComponent(id)}`,
    REFRESH_MS,
  );
  const mayChange = useMayChange();
  return (
    <>
      <PageHead
        title={id}
        parent={PARENT}
        beside={
          <>
            <Copy text={id} what="the id" />
            {data && <StateBadge state={data.state} />}
          </>
        }
        actions={data && mayChange && <Controls job={data} onChanged={reload} />}
      />
      {error && <Failure error={error} asOf={at} retry={reload} />}
      {data === null && !error && <Loading />}
      {data && <Progress job={data} />}
    </>
  );
}

function Progress({ job }: { job: Redelivery }) {
  const { action = "redeliver", total, done, skipped, failed } = job;
  const words = WORDS[action];
  const handled = done + skipped + failed;
  const share = total === 0 ? 1 : handled / total;
  return (
    <>
      <Panel
        title="Progress"
        note={`${count(handled)} of ${plural(total, "delivery", "deliveries")}`}
      >
        <div
          class="progress"
          role="progressbar"
          aria-label="Progress"
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={handled}
        >
          <div style={{ width: `${Math.min(1, share) * 100}%` }} />
        </div>
        <Figures
          of={[
            {
              label: words.done,
              value: count(done),
              under: percent(total ? done / total : null),
            },
            { label: "Skipped", value: count(skipped), under: words.skipped },
            { label: "Failed", value: count(failed), under: words.failed },
            { label: "Left", value: count(Math.max(0, total - handled)) },
          ]}
        />
      </Panel>
      <Panel title="Job">
        <Facts
          of={{
            Filter: <FilterWords filter={job.filter} />,
            Reason: job.reason,
            To:
              action === "redeliver" &&
              (job.to ? <IdLink id={job.to} /> : "their own subscriptions"),
            "Deliveries a second, at most": job.rate_per_second,
            "Started by": job.created_by,
            Created: <Moment at={job.created_at} />,
            Finished: job.finished_at && <Moment at={job.finished_at} />,
          }}
        />
      </Panel>
    </>
  );
}

function Controls({ job: { id, state }, onChanged }: { job: Redelivery; onChanged: () => void }) {
  const confirmed = useConfirm();
  const become = async (wanted: string) => {
    await call("PATCH", `redeliveries/${id}`, { state: wanted });
    onChanged();
  };
  const cancel = async () => {
    const isAgreed = await confirmed({
      title: "Cancel this job?",
      effect: "What the job has done stays done. The job cannot continue afterwards.",
      yes: "Cancel job",
      isDangerous: true,
    });
    if (isAgreed) await become("cancelled");
  };
  if (state === "finished" || state === "cancelled") return null;
  return (
    <>
      {state === "paused" ? (
        <Button act={() => become("running")} icon="play">
          Resume
        </Button>
      ) : (
        <Button act={() => become("paused")} icon="pause">
          Pause
        </Button>
      )}
      <Button act={cancel} kind="danger" icon="stop">
        Cancel job…
      </Button>
    </>
  );
}
