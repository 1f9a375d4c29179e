import { useMemo, useState } from "preact/hooks";
import { useAction } from "../../console/components/button.tsx";
import { Copy } from "../../console/components/copy.tsx";
import { Field } from "../../console/components/field.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { Panel } from "../../console/components/panel.tsx";
import { Segments } from "../../console/components/segments.tsx";
import { Failure } from "../../console/components/states.tsx";
import { Problem } from "../../console/api/problem.ts";
import { go, recordAddress } from "../../console/place.ts";
import { answerOf, newKey } from "../answer.ts";
import { DocsLink } from "../docs-link.tsx";
import { BASE_URL, facts, receivers } from "../service.ts";
import { useSession } from "../session.tsx";
import { faultOfUrl } from "../url-faults.ts";

const HOME = { label: "Subscriptions", href: "#/subscriptions" };

export function NewSubscriptionPage() {
  const { client, secrets, issued } = useSession();
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState<string[]>(facts.types.slice(0, 1).map(({ name }) => name));
  const [error, setError] = useState<Problem | null>(null);
  const fault = faultOfUrl(url.trim());
  // The same key for every try of the same request, so that a lost answer makes no second subscription.
  const idempotencyKey = useMemo(newKey, [url, events]);
  const [create, isCreating] = useAction(async () => {
    if (fault !== null && !/^https:/i.test(url.trim())) {
      setError(new Problem(422, { detail: fault }));
      return;
    }
    setError(null);
    try {
      const request = { url: url.trim(), events };
      const created = await answerOf(client.createSubscription(request, { idempotencyKey }));
      secrets.set(created.id, created.secret);
      issued.add(created.id);
      go(recordAddress("subscriptions", created.id));
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
      {error && (
        <Failure error={error} hope="Create it again in a moment: no second one is made." />
      )}
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
              {fault ?? "A public https URL. Its path may be a secret."}{" "}
              <DocsLink to="/local-testing">Nothing public yet?</DocsLink>
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

/** The secret, which only the tab that created the subscription can show. */
export function Secret({ secret }: { secret: string }) {
  return (
    <Panel
      title="Signing secret"
      note="Store it like a password. It is shown until you sign out or close this tab, and never again."
    >
      <div class="issued">
        <code>{secret}</code>
        <Copy text={secret} what="the secret" label="Copy" />
      </div>
    </Panel>
  );
}

/** The example receiver, started with the secret. */
export function Receiver({ secret }: { secret: string }) {
  const languages = Object.fromEntries(Object.keys(receivers).map((name) => [name, name]));
  const [language, setLanguage] = useState(Object.keys(receivers)[0] ?? "");
  const commands = receivers[language];
  const text = commands
    ? `${commands.get.replaceAll("$PARTNER_API", BASE_URL)}\nPARTNER_SECRET='${secret}' ${commands.start}`
    : "";
  return (
    <Panel
      title="Receiver"
      note="The example receiver verifies each delivery. It listens on port 3000 (PORT sets another), on any path, behind your proxy or tunnel."
      actions={
        <Segments label="Language" options={languages} value={language} choose={setLanguage} />
      }
    >
      <div class="commands">
        <pre tabIndex={0}>{text}</pre>
        <Copy text={text} what="the commands" />
      </div>
      <p class="quiet">
        Your own program calls <code>verify</code>:{" "}
        <DocsLink to="/verifying">Verifying deliveries</DocsLink>.
      </p>
    </Panel>
  );
}
