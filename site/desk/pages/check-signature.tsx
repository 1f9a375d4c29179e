import { useId, useState } from "preact/hooks";
import { useAction } from "../../console/components/button.tsx";
import { Field } from "../../console/components/field.tsx";
import { Icon } from "../../console/components/icon.tsx";
import { PageHead } from "../../console/components/page-head.tsx";
import { type Diagnosis, diagnose } from "../signature.ts";

const HEADERS = "X-VC-Timestamp: 1767225600000\nX-VC-Signature: sha256=…";

export function CheckSignaturePage() {
  const [pasted, setPasted] = useState({ headers: "", body: "", secret: "" });
  const [found, setFound] = useState<Diagnosis | null>(null);
  const [check] = useAction(async () => setFound(await diagnose(pasted, Date.now())));
  const paste = (name: keyof typeof pasted) => (text: string) => {
    setPasted((before) => ({ ...before, [name]: text }));
    setFound(null);
  };
  return (
    <>
      <PageHead
        title="Check a signature"
        under="Everything is computed in this browser. Nothing that you paste is sent."
      />
      {!isSecureContext && (
        <div class="alert" role="alert">
          <Icon name="lock" />
          <p>Browsers compute signatures only on pages over https. Open this page over https.</p>
        </div>
      )}
      <form
        class="panel stack"
        onSubmit={(event) => {
          event.preventDefault();
          check();
        }}
      >
        <Area
          label="Headers of the request"
          rows={4}
          placeholder={HEADERS}
          paste={paste("headers")}
        />
        <Area
          label="Raw body"
          rows={6}
          placeholder={'{"event":"vc.test.ping",…}'}
          paste={paste("body")}
        />
        <Field
          label="Signing secret"
          type="password"
          placeholder="whsec_…"
          onInput={({ currentTarget }) => paste("secret")(currentTarget.value)}
        />
        <div class="buttons">
          <button class="button main" disabled={!isSecureContext}>
            Check
          </button>
        </div>
      </form>
      <div aria-live="polite">{found && <Result of={found} />}</div>
    </>
  );
}

function Result({ of: { verdict, title, advice } }: { of: Diagnosis }) {
  return (
    <div class={verdict === "valid" ? "alert good" : "alert"} role="status">
      <Icon name={verdict === "valid" ? "check" : "cross"} />
      <p>
        <strong>
          {verdict}
          {title && `: ${title}`}
        </strong>
        <br />
        {advice}
      </p>
    </div>
  );
}

function Area({
  label,
  rows,
  placeholder,
  paste,
}: {
  label: string;
  rows: number;
  placeholder: string;
  paste: (text: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        placeholder={placeholder}
        spellcheck={false}
        onInput={({ currentTarget }) => paste(currentTarget.value)}
      />
    </div>
  );
}
