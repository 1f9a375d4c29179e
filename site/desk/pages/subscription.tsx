import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type {
  Failure as FailedAttempt,
  FailuresPage,
  Subscription,
} from "../../../src/client/partner-client.ts";
import { Badge } from "../../console/components/badge.tsx";
import { Button } from "../../console/components/button.tsx";
import { useConfirm } from "../../console/components/confirm.tsx";
import { Facts } from "../../console/components/facts.tsx";
import { Choice } from "../../console/components/field.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { Panel } from "../../console/components/panel.tsx";
import { Empty, Failure, Loading } from "../../console/components/states.tsx";
import { Moment } from "../../console/components/time.tsx";
import { useReport } from "../../console/components/toasts.tsx";
import { go, recordAddress } from "../../console/place.ts";
import { answerOf } from "../answer.ts";
import { CauseOf } from "../cause.tsx";
import { useSession } from "../session.tsx";
import { TestEvent } from "../test-event.tsx";
import { HOPE, useCall } from "../use-call.ts";
import { Receiver, Secret } from "./new-subscription.tsx";
import { State, StateAdvice } from "./subscriptions.tsx";

const HOME = { label: "Subscriptions", href: "#/subscriptions" };
const PAGE_SIZE = 20;

export function SubscriptionPage({ id }: { id: string }) {
  const { client, secrets, issued } = useSession();
  const { data, error, reload } = useCall(() => answerOf(client.listSubscriptions()), [id]);
  const [turn, setTurn] = useState(0);
  const readAgain = () => {
    reload();
    setTurn((before) => before + 1);
  };
  const subscription = data?.find((one) => one.id === id);
  if (data !== null && subscription === undefined) return <Gone />;
  return (
    <>
      <PageHead
        title={subscription ? new URL(subscription.url).host : "Subscription"}
        parent={HOME}
        beside={subscription && <State of={subscription} />}
        under={subscription?.url}
        actions={subscription && <Actions of={subscription} />}
      />
      {error && <Failure error={error} retry={reload} hope={HOPE} />}
      {subscription === undefined && error === null && <Loading />}
      {subscription && (
        <>
          <StateAdvice of={subscription} />
          {issued.has(id) && (
            <>
              <Secret secret={secrets.get(id) ?? ""} />
              <Receiver secret={secrets.get(id) ?? ""} />
            </>
          )}
          {subscription.active && (
            <TestEvent
              id={id}
              url={subscription.url}
              hasRecovered={subscription.consecutive_failures === 0}
              onEnd={readAgain}
            />
          )}
          <Failures of={subscription} turn={turn} readAgain={readAgain} />
          <Panel title="Subscription">
            <Facts
              of={{
                Id: <code>{subscription.id}</code>,
                Events: subscription.events.join(", "),
                Created: <Moment at={subscription.created_at} />,
                "Failures in a row": subscription.consecutive_failures,
              }}
            />
          </Panel>
        </>
      )}
    </>
  );
}

function Gone() {
  return (
    <>
      <PageHead title="No such subscription" parent={HOME} />
      <Empty title="It was deleted, or another organization's key made it." isFirst />
    </>
  );
}

function Actions({ of }: { of: Subscription }) {
  const { client } = useSession();
  const confirm = useConfirm();
  const { say } = useReport();
  const remove = async () => {
    const isSure = await confirm({
      title: "Delete this subscription?",
      effect:
        "Deliveries that wait are cancelled, and its secret is erased. This cannot be undone.",
      subject: of.url,
      yes: "Delete",
      isDangerous: true,
    });
    if (!isSure) return;
    await answerOf(client.deleteSubscription(of.id));
    say("The subscription is deleted.");
    go("#/subscriptions");
  };
  return (
    <>
      <a class="button" href={recordAddress("rotate", of.id)}>
        {of.active ? "Rotate the secret" : "Replace it"}
      </a>
      <Button act={remove} kind="danger">
        Delete
      </Button>
    </>
  );
}

/** How long after its time an attempt has most likely ended. */
const ENDED_MS = 5_000;
const TIMER_MAX_MS = 2 ** 31 - 1;

/** Calls `read` when the next attempt of one of these has most likely ended. */
function useNextFailure(items: FailedAttempt[], read: () => void) {
  const times = items.flatMap(({ next_attempt_at: at }) => (at === null ? [] : Date.parse(at)));
  const next = Math.min(...times.filter((at) => at > Date.now()));
  useEffect(() => {
    const afterMs = next - Date.now() + ENDED_MS;
    if (!(afterMs < TIMER_MAX_MS)) return;
    const timer = setTimeout(read, afterMs);
    return () => clearTimeout(timer);
  }, [next]);
}

const NOTHING: FailuresPage = { items: [], next_cursor: null };

/** The newest failures, and what was read of older ones before. */
function joined(newest: FailuresPage, before: FailuresPage): FailuresPage {
  const last = newest.items.at(-1)?.id;
  const at = before.items.findIndex(({ id }) => id === last);
  return at === -1
    ? newest
    : { ...before, items: [...newest.items, ...before.items.slice(at + 1)] };
}

/** A list, and a function that names the row which gets the focus when it is read. The button that reads it may be gone then. */
function useNextRow(items: FailedAttempt[]) {
  const list = useRef<HTMLOListElement>(null);
  const next = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (next.current === null || list.current === null) return;
    const row = list.current.children[next.current];
    if (row instanceof HTMLElement) row.focus();
    else if (document.activeElement === document.body) list.current.focus();
    next.current = null;
  }, [items]);
  return [list, (row: number) => void (next.current = row)] as const;
}

const causeKey = ({ reason, detail }: FailedAttempt) => `${reason} ${detail ?? ""}`;

/** The failures audit, newest first, with the repair of each cause. */
function Failures({
  of: { id, consecutive_failures: inARow },
  turn,
  readAgain,
}: {
  of: Subscription;
  /** Read again when it changes. */
  turn: number;
  readAgain: () => void;
}) {
  const { client } = useSession();
  const [{ items, next_cursor: cursor }, setRead] = useState<FailuresPage>(NOTHING);
  const [reason, setReason] = useState("");
  const read = async () => {
    const newest = await answerOf(client.listFailures(id, { limit: PAGE_SIZE }));
    setRead((before) => joined(newest, before));
    return newest;
  };
  const { data, error, reload } = useCall(read, [id, turn]);
  useNextFailure(items, readAgain);
  const reasons = [...new Set(items.map((one) => one.reason))].filter(Boolean).sort();
  const shown = items.filter((one) => reason === "" || one.reason === reason);
  const firstOf = new Map(shown.toReversed().map((one) => [causeKey(one), one.id]));
  const [list, focusNext] = useNextRow(items);
  const readMore = async () => {
    const page = { limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
    const more = await answerOf(client.listFailures(id, page));
    focusNext(shown.length);
    setRead((before) => ({ ...more, items: [...before.items, ...more.items] }));
  };

  return (
    <Panel
      title="Failed attempts"
      note="Newest first. Each cause is explained where it is met first."
      actions={
        <Button act={readAgain} kind="small" icon="refresh">
          Refresh
        </Button>
      }
    >
      {error && <Failure error={error} retry={reload} hope={HOPE} />}
      {data === null && error === null && <Loading lines={2} />}
      {data !== null && items.length === 0 && <Empty icon="check" title="No attempt has failed" />}
      {reasons.length > 1 && (
        <Choice
          label="Reason"
          none="All reasons"
          options={Object.fromEntries(reasons.map((one) => [one, one]))}
          chosen={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      )}
      <ol class="failures" ref={list} tabIndex={-1}>
        {shown.map((failure) => (
          <li key={failure.id} tabIndex={-1}>
            <div class="title-line">
              <Moment at={failure.attempted_at} />
              {failure.status === "dead_lettered" && (
                <Badge tone="bad" icon="dead">
                  given up
                </Badge>
              )}
              <code>{failure.event_type}</code> <code>{failure.event_id}</code>
            </div>
            <CauseOf
              failure={failure}
              hasRecovered={inARow === 0}
              isExplained={firstOf.get(causeKey(failure)) === failure.id}
              isFollowed={items.some(
                (one) => one.event_id === failure.event_id && one.attempt > failure.attempt,
              )}
            />
          </li>
        ))}
      </ol>
      {cursor !== null && (
        <div class="buttons">
          <Button act={readMore}>More</Button>
          {reason !== "" && shown.length === 0 && (
            <span class="quiet">None among the {items.length} newest: read more.</span>
          )}
        </div>
      )}
    </Panel>
  );
}
