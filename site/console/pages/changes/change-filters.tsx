import { Choice, Field, valuesOf } from "../../components/field.tsx";
import { addressOf, go } from "../../place.ts";
import { SPANS } from "../deliveries/span.ts";

const SPAN_OPTIONS = Object.fromEntries(
  Object.entries(SPANS).map(([value, { label }]) => [value, label]),
);

const TEXTS = [
  ["operator", "Operator", "the name of a token"],
  ["action", "Action", "revoke_key"],
  ["subject", "Subject", "an id, such as wh_…"],
] as const;

export function ChangeFilters({ query }: { query: Record<string, string> }) {
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        go(addressOf("changes", valuesOf(event.currentTarget)));
      }}
    >
      <Choice
        label="Changed"
        name="span"
        none="at any time"
        options={SPAN_OPTIONS}
        chosen={query.span}
        onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
      />
      {TEXTS.map(([name, label, placeholder]) => (
        <Field
          key={name}
          label={label}
          name={name}
          placeholder={placeholder}
          defaultValue={query[name] ?? ""}
        />
      ))}
      <div class="buttons">
        <button class="button main">Search</button>
        <a class="button plain" href="#/changes">
          Clear
        </a>
      </div>
    </form>
  );
}
