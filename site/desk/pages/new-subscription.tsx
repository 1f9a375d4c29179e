import { useMemo, useState } from "preact/hooks";
import type { NewSubscription } from "../../../src/client/partner-client.ts";
import { useAction } from "../../console/components/button.tsx";
import { Copy } from "../../console/components/copy.tsx";
import { Field } from "../../console/components/field.tsx";
import { Icon } from "../../console/components/icon.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { Panel } from "../../console/components/panel.tsx";
import { Segments } from "../../console/components/segments.tsx";
import { Failure } from "../../console/components/states.tsx";
import { Problem } from "../../console/api/problem.ts";
import { recordAddress } from "../../console/place.ts";
import { answerOf, newKey } from "../answer.ts";
import { BASE_URL, DOCS, facts, receivers } from "../service.ts";
import { useSession } from "../session.tsx";
import { TestEvent } from "../test-event.tsx";
import { faultOfUrl } from "../url-faults.ts";

const HOME = { label: "Subscriptions", href: "#/subscriptions" };

export function NewSubscriptionPage() {
  const [created, setCreated] = useState<NewSubscription | null>(null);
  return created ? <Created subscription={created} /> : <NewForm done={setCreated} />;
}

function NewForm({ done }: { done: (created: NewSubscription) => void }) {
  const { client, secrets } = useSession();
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<string[]>(facts.types.slice(0, 1).map(({ name }) => name));
  const [error, setError] = useState<Problem | null>(null);
  const fault = faultOfUrl(url.trim());
  // The same key for every try of the same request, so that a lost answer makes no second subscription.
  const idempotencyKey = useMemo(newKey, [url, events]);
  const [create, isCreating] = useAction(async () => {
    setError(null);
    try {
      const request = { url: url.trim(), events };
      const created = await answerOf(client.createSubscription(request, { idempotencyKey }));
      secrets.set(created.id, created.secret);
      done(created);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      setError(problem);
    }
  });
  const choose = (name: string, isChosen: boolean) =>
    setEvents((before) => (isChosen ? [...before, name] : before.filter((one) => one !== name)));

  return (
    <>
      <PageHead title="New subscription" parent={HOME} />
      {error && <Failure error={error} />}
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <Field
          label="URL of the receiver"
          name="url"
          required
          placeholder="https://hooks.example.com/partner-api"
          onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          hint={
            <span aria-live="polite">
              {fault ?? "A public https URL. Its path may be a secret."}
            </span>
          }
        />
        <fieldset class="types">
          <legend>Events</legend>
          {facts.types.map(({ name, summary }) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={events.includes(name)}
                onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
              />
              <span>
                <code>{name}</code> {summary}
              </span>
            </label>
          ))}
        </fieldset>
        <div class="buttons">
          <button class="button main" disabled={events.length === 0} aria-busy={isCreating}>
            Create
          </button>
        </div>
      </form>
    </>
  );
}

function Created({ subscription }: { subscription: NewSubscription }) {
  const { id, url, secret } = subscription;
  return (
    <>
      <PageHead title="Subscription created" parent={HOME} under={url} />
      <Secret secret={secret} />
      <Receiver secret={secret} />
      <TestEvent id={id} url={url} secret={secret} />
      <p>
        <a href={recordAddress("subscriptions", id)}>Go to the subscription</a>
      </p>
    </>
  );
}

/** The secret, this once. */
export function Secret({ secret }: { secret: string }) {
  return (
    <Panel title="Signing secret" note="It is shown this once. Store it like a password.">
      <div class="issued">
        <code>{secret}</code>
        <Copy text={secret} what="the secret" label="Copy" />
      </div>
    </Panel>
  );
}

/** The example receiver, started with the secret. */
function Receiver({ secret }: { secret: string }) {
  const languages = Object.fromEntries(Object.keys(receivers).map((name) => [name, name]));
  const [language, setLanguage] = useState(Object.keys(receivers)[0] ?? "");
  const commands = receivers[language];
  const text = commands
    ? `${commands.get.replaceAll("$PARTNER_API", BASE_URL)}\nPARTNER_SECRET='${secret}' ${commands.start}`
    : "";
  return (
    <Panel
      title="Receiver"
      note="The example receiver verifies each delivery. It listens on port 3000, behind your proxy or tunnel."
      actions={
        <Segments label="Language" options={languages} value={language} choose={setLanguage} />
      }
    >
      <div class="commands">
        <pre tabIndex={0}>{text}</pre>
        <Copy text={text} what="the commands" />
      </div>
      <p class="quiet">
        <Icon name="link" size={12} /> Your own program calls <code>verify</code>:{" "}
        <a href={`${DOCS}/verifying`}>Verifying deliveries</a>.
      </p>
    </Panel>
  );
}
