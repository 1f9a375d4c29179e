import { useState } from "preact/hooks";
import type { Failure as FailedAttempt } from "../../src/client/partner-client.ts";
import { Problem } from "../console/api/problem.ts";
import { useAction } from "../console/components/button.tsx";
import { Field } from "../console/components/field.tsx";
import { Icon } from "../console/components/icon.tsx";
import { Panel } from "../console/components/panel.tsx";
import { answerOf } from "./answer.ts";
import { CauseOf } from "./cause.tsx";
import { Repeat } from "./repeat.tsx";
import { facts } from "./service.ts";
import { useSession } from "./session.tsx";

/** How often the audit is read: 20 requests a minute at most. */
const POLL_MS = 3_000;
/** An attempt that failed is in the audit this long after its time limit. */
const MARGIN_MS = 3_000;
const WAIT_MS = facts.attemptTimeoutMs + MARGIN_MS;

type Course =
  | { kind: "none" }
  | { kind: "accepted"; eventId: string }
  | { kind: "failed"; eventId: string; failure: FailedAttempt }
  | { kind: "no-failure"; eventId: string }
  | { kind: "unknown"; eventId: string; error: Problem };

/** Sends a test event, and shows what becomes of it. */
export function TestEvent({
  id,
  url,
  secret: known,
  hasRecovered = false,
  onEnd,
}: {
  id: string;
  url: string;
  secret?: string | undefined;
  /** True if no failure followed the last success. */
  hasRecovered?: boolean;
  /** Called when the outcome of the first attempt is known. */
  onEnd?: () => void;
}) {
  const { client, secrets } = useSession();
  const [typed, setTyped] = useState("");
  const [course, setCourse] = useState<Course>({ kind: "none" });
  const secret = known ?? secrets.get(id) ?? typed.trim();

  const [send, isSending] = useAction(async () => {
    const { event_id: eventId } = await answerOf(client.sendTestEvent(id, secret));
    secrets.set(id, secret);
    setCourse({ kind: "accepted", eventId });
    setCourse(await courseOf(eventId));
    onEnd?.();
  });

  /** Reads the audit until the attempt must be over. If it lists no failure then, the receiver has acknowledged. */
  const courseOf = async (eventId: string): Promise<Course> => {
    const until = Date.now() + WAIT_MS;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const isOver = Date.now() > until;
      try {
        const { items } = await answerOf(client.listFailures(id, { limit: 20 }));
        const failure = items.find(({ event_id: of }) => of === eventId);
        if (failure) return { kind: "failed", eventId, failure };
        if (isOver) return { kind: "no-failure", eventId };
      } catch (error) {
        if (!(error instanceof Problem && error.isTemporary)) throw error;
        if (isOver) return { kind: "unknown", eventId, error };
      }
    }
  };

  return (
    <Panel
      title="Test event"
      note="It takes the way of every event: signed, retried, and shown here if an attempt fails."
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          event.currentTarget.querySelector("button")?.focus(); // The field goes when the event is accepted.
          send();
        }}
      >
        {known === undefined && !secrets.has(id) && (
          <Field
            label="Signing secret"
            type="password"
            placeholder="whsec_…"
            hint="As proof that the subscription is yours. The service keeps no readable copy."
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
        <div class="buttons">
          <button class="button main" disabled={secret === ""} aria-busy={isSending}>
            <Icon name="send" size={14} />
            Send a test event
          </button>
        </div>
      </form>
      <div aria-live="polite">
        <CourseOf course={course} hasRecovered={hasRecovered} />
      </div>
      {course.kind !== "none" && (
        <Repeat key={course.eventId} of={{ id, url, secret, eventId: course.eventId }} />
      )}
    </Panel>
  );
}

function CourseOf({ course, hasRecovered }: { course: Course; hasRecovered: boolean }) {
  switch (course.kind) {
    case "none":
      return null;
    case "accepted":
      return (
        <p class="course">
          <Icon name="clock" /> Sent as <code>{course.eventId}</code>. Waiting for your receiver:
          this page reads the failed attempts every {POLL_MS / 1_000} s, for {WAIT_MS / 1_000} s.
        </p>
      );
    case "failed":
      return (
        <div class="course bad">
          <p>
            <Icon name="cross" /> The first attempt of <code>{course.eventId}</code> failed.
          </p>
          <CauseOf failure={course.failure} hasRecovered={hasRecovered} />
        </div>
      );
    case "unknown":
      return (
        <p class="course">
          <Icon name="warning" /> Sent as <code>{course.eventId}</code>. Its outcome could not be
          read: {course.error.message} The failed attempts below show it later.
        </p>
      );
    case "no-failure":
      return (
        <p class="course good">
          <Icon name="check" /> No failure after {WAIT_MS / 1_000} s, so your receiver has most
          likely acknowledged it. Its log shows <code>{course.eventId}</code>.
        </p>
      );
  }
}
