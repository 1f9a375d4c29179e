import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { NewSubscription, Subscription } from "../../../src/client/partner-client.ts";
import { Button } from "../../console/components/button.tsx";
import { useConfirm } from "../../console/components/confirm.tsx";
import { Copy } from "../../console/components/copy.tsx";
import { Icon } from "../../console/components/icon.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { Failure, Loading } from "../../console/components/states.tsx";
import { useReport } from "../../console/components/toasts.tsx";
import { go, recordAddress } from "../../console/place.ts";
import { answerOf, newKey } from "../answer.ts";
import { useSession } from "../session.tsx";
import { TestEvent } from "../test-event.tsx";
import { HOPE, useCall } from "../use-call.ts";
import { Secret } from "./new-subscription.tsx";

const ROTATE = {
  title: "Rotate the secret",
  second: (
    <>
      From then on each event arrives twice, once with each secret. Your receiver drops the second
      by the event's <code>id</code>. What it refuses before it knows the new secret is sent again.
    </>
  ),
  accept: "Let the receiver accept both secrets",
  accepted: "It accepts both",
};

const REPLACE: typeof ROTATE = {
  title: "Replace the subscription",
  second: (
    <>
      The disabled one stays disabled. Repair the receiver first, or the new one is disabled, too.
    </>
  ),
  accept: "Let the receiver accept the new secret",
  accepted: "It accepts it",
};

/** A second subscription for the same URL, both secrets accepted, the old one deleted: nothing is lost in between. */
export function RotatePage({ id }: { id: string }) {
  const { client, secrets, issued } = useSession();
  const { data, error, reload } = useCall(() => answerOf(client.listSubscriptions()), [id]);
  const [second, setSecond] = useState<NewSubscription | null>(null);
  const [accepts, setAccepts] = useState(false);
  const [key] = useState(newKey);
  const old = data?.find((one) => one.id === id);
  const isReplaced = old?.active === false;
  const words = isReplaced ? REPLACE : ROTATE;
  const twin = data?.find((one) => one.url === old?.url && one.id !== id && one.active);

  const walk = useRef<HTMLOListElement>(null);
  useLayoutEffect(() => {
    // The button that led to this step is gone.
    if (second) walk.current?.querySelector<HTMLElement>("[aria-current] h2")?.focus();
  }, [second, accepts]);

  const create = async ({ url, events }: Subscription) => {
    const created = await answerOf(
      client.createSubscription({ url, events }, { idempotencyKey: key }),
    );
    secrets.set(created.id, created.secret);
    issued.add(created.id);
    setSecond(created);
  };

  return (
    <>
      <PageHead
        title={words.title}
        parent={{ label: "Subscription", href: recordAddress("subscriptions", id) }}
        under={old?.url}
      />
      {error && <Failure error={error} retry={reload} hope={HOPE} />}
      {!old && error === null && <Loading />}
      {old && (
        <ol class="walk" ref={walk}>
          <Step title="Create a second subscription for the same URL" isDone={second !== null}>
            <p>{words.second}</p>
            {second === null && twin && <Twin of={twin} goOn={setSecond} />}
            {second === null && !twin && (
              <Button act={() => create(old)} kind="main">
                Create the second one
              </Button>
            )}
          </Step>
          <Step title={words.accept} isDone={accepts} isAhead={!second}>
            {second && (
              <>
                <Secret secret={second.secret} />
                {!isReplaced && (
                  <p>
                    The example receiver reads both, with a comma between them:{" "}
                    <code>PARTNER_SECRET=old,new</code>{" "}
                    <Copy
                      text={`,${second.secret}`}
                      what="the second part"
                      label="Copy the second part"
                    />
                  </p>
                )}
                {!accepts && (
                  <Button act={() => setAccepts(true)} kind="main">
                    {words.accepted}
                  </Button>
                )}
              </>
            )}
          </Step>
          <Step title="Try the new secret" isAhead={!accepts}>
            {second && accepts && (
              <TestEvent id={second.id} url={second.url} secret={second.secret} />
            )}
          </Step>
          <Step title="Delete the old subscription" isAhead={!accepts}>
            {second && accepts && <DeleteOld old={old} next={second.id} />}
          </Step>
        </ol>
      )}
    </>
  );
}

/** A walk that was left after its first step must not begin with a third subscription. */
function Twin({ of, goOn }: { of: Subscription; goOn: (second: NewSubscription) => void }) {
  const { secrets } = useSession();
  const secret = secrets.get(of.id);
  return (
    <>
      <p>
        A second one exists: <a href={recordAddress("subscriptions", of.id)}>{of.id}</a>.
        {secret === undefined &&
          " Nobody can show its secret again: delete it, and create another."}
      </p>
      {secret !== undefined && (
        <Button act={() => goOn({ ...of, secret })} kind="main">
          Go on with it
        </Button>
      )}
    </>
  );
}

function DeleteOld({ old, next }: { old: Subscription; next: string }) {
  const { client } = useSession();
  const confirm = useConfirm();
  const { say } = useReport();
  const remove = async () => {
    const isSure = await confirm({
      title: "Delete the old subscription?",
      effect:
        "Do this when the new secret has worked. Attempts of the old one that wait are cancelled.",
      subject: old.id,
      yes: "Delete the old one",
      isDangerous: true,
    });
    if (!isSure) return;
    await answerOf(client.deleteSubscription(old.id));
    say("The secret is rotated. Remove the old one from your receiver.");
    go(recordAddress("subscriptions", next));
  };
  return (
    <Button act={remove} kind="danger">
      Delete the old one
    </Button>
  );
}

function Step({
  title,
  isDone = false,
  isAhead = false,
  children,
}: {
  title: string;
  isDone?: boolean;
  isAhead?: boolean;
  children: ComponentChildren;
}) {
  return (
    <li class={isAhead ? "ahead" : ""} aria-current={!isDone && !isAhead ? "step" : undefined}>
      <h2 tabIndex={-1}>
        {isDone && <Icon name="check" />} {title}
      </h2>
      {children}
    </li>
  );
}
