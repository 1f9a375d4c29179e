import { useState } from "preact/hooks";
import { Choice, Field, valuesOf } from "../../components/field.tsx";
import { FoundField } from "../../components/found-field.tsx";
import { utc } from "../../components/time-words.ts";
import { addressOf, go } from "../../place.ts";
import { fromLocalField, SPANS, toLocalField } from "./span.ts";

const STATES = ["waiting", "delivered", "dead_lettered", "cancelled"];
const STATE_OPTIONS = Object.fromEntries(STATES.map((state) => [state, state]));
const CUSTOM = "custom";
const SPAN_OPTIONS = {
  ...Object.fromEntries(Object.entries(SPANS).map(([value, { label }]) => [value, label])),
  [CUSTOM]: "from … until …",
};

/** The texts, each with the kind of the things that are offered while one writes. */
const TEXTS = [
  ["organization", "Organization", "slug or org_…", "organization"],
  ["subscription", "Subscription", "wh_…", null],
  ["event", "Event", "evt_… or type", "event_type"],
  ["host", "Receiver's host", "hooks.example.com", "host"],
  ["reason", "Last failure", "http_503", null],
] as const;

export function Filters({ query }: { query: Record<string, string> }) {
  const isCustom = query.since !== undefined || query.until !== undefined;
  const [span, setSpan] = useState(isCustom ? CUSTOM : (query.span ?? ""));

  const search = (form: HTMLFormElement) => {
    const { from, until, span: chosen, ...asked } = valuesOf(form);
    const times =
      chosen === CUSTOM
        ? { since: fromLocalField(from ?? ""), until: fromLocalField(until ?? "") }
        : { span: chosen };
    const kept = Object.entries({ ...asked, ...times, limit: query.limit });
    go(addressOf("deliveries", Object.fromEntries(kept.map(([name, text]) => [name, text ?? ""]))));
  };
  const searchNow = ({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
    currentTarget.form?.requestSubmit();

  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        search(event.currentTarget);
      }}
    >
      <Choice
        label="State"
        name="state"
        none="any"
        options={STATE_OPTIONS}
        chosen={query.state}
        onChange={searchNow}
      />
      <Choice
        label="Created"
        name="span"
        none="at any time"
        options={SPAN_OPTIONS}
        chosen={span}
        onChange={(event) => {
          setSpan(event.currentTarget.value);
          if (event.currentTarget.value !== CUSTOM) searchNow(event);
        }}
      />
      {TEXTS.map(([name, label, placeholder, kind]) => {
        const field = { label, name, placeholder, defaultValue: query[name] ?? "" };
        if (kind === null) return <Field key={name} {...field} />;
        return <FoundField key={name} kind={kind} {...field} />;
      })}
      {span === CUSTOM && (
        <>
          <LocalTime name="from" label="From" at={query.since} />
          <LocalTime name="until" label="Until" at={query.until} />
        </>
      )}
      <div class="buttons">
        <button class="button main">Search</button>
        <a class="button plain" href="#/deliveries">
          Clear
        </a>
      </div>
    </form>
  );
}

/** A time in the operator's time zone, with UTC under it. */
function LocalTime({ name, label, at }: { name: string; label: string; at: string | undefined }) {
  const [written, setWritten] = useState(toLocalField(at));
  const meant = fromLocalField(written);
  return (
    <Field
      label={label}
      name={name}
      type="datetime-local"
      value={written}
      hint={meant ? utc(meant) : "in your time zone"}
      onInput={({ currentTarget }) => setWritten(currentTarget.value)}
    />
  );
}
