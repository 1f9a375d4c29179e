import { useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import type { ApiKey, IssuedKey } from "../../api/shapes.ts";
import { usePages } from "../../api/use-pages.ts";
import { StateBadge } from "../../components/badge.tsx";
import { Button, useAction } from "../../components/button.tsx";
import { useConfirm } from "../../components/confirm.tsx";
import { Copy } from "../../components/copy.tsx";
import { Choice, Field, valuesOf } from "../../components/field.tsx";
import { List } from "../../components/list.tsx";
import { Panel } from "../../components/panel.tsx";
import { Empty } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { Ago } from "../../components/time.tsx";
import { useReport } from "../../components/toasts.tsx";

const COLUMNS: Column<ApiKey>[] = [
  { title: "Label", line: 1, show: ({ label }) => label ?? <span class="quiet">no label</span> },
  { title: "Key", line: 2, show: ({ key_id }) => <span class="id">vck_{key_id}</span> },
  { title: "Scopes", show: ({ scopes }) => scopes.join(", ") },
  { title: "Created", show: ({ created_at }) => <Ago at={created_at} /> },
  {
    title: "Last used",
    line: 3,
    show: ({ last_used_at: at }) => (at ? <Ago at={at} /> : <span class="quiet">never</span>),
  },
  {
    title: "State",
    line: 1,
    end: true,
    show: ({ revoked_at }) => <StateBadge state={revoked_at ? "revoked" : "active"} />,
  },
];

export function Keys({ organization, mayChange }: { organization: string; mayChange: boolean }) {
  const pages = usePages<ApiKey>("keys", { organization, include_revoked: "true" });
  const revocation: Column<ApiKey> = {
    title: "Action",
    line: 3,
    end: true,
    show: (key) => (key.revoked_at ? null : <Revocation apiKey={key} onRevoked={pages.reload} />),
  };
  return (
    <Panel title="Keys" note="a revoked key stops working at once">
      {mayChange && <CreateKey organization={organization} onCreated={pages.reload} />}
      <List
        name="Keys"
        pages={pages}
        columns={mayChange ? [...COLUMNS, revocation] : COLUMNS}
        keyOf={({ key_id }) => key_id}
        empty={
          <Empty icon="lock" title="No key yet">
            <p>The partner needs one to call the API.</p>
          </Empty>
        }
      />
    </Panel>
  );
}

function Revocation({ apiKey, onRevoked }: { apiKey: ApiKey; onRevoked: () => void }) {
  const { key_id: id, label } = apiKey;
  const confirmed = useConfirm();
  const { say } = useReport();
  const revoke = async () => {
    const isAgreed = await confirmed({
      title: `Revoke vck_${id}?`,
      effect: "From now on, every request with this key gets 401. This cannot be undone.",
      subject: label ?? "It has no label.",
      yes: "Revoke key",
      isDangerous: true,
    });
    if (!isAgreed) return;
    await call("DELETE", `keys/${id}`);
    onRevoked();
    say(`vck_${id} is revoked.`);
  };
  return (
    <Button act={revoke} kind="small danger">
      Revoke
    </Button>
  );
}

function CreateKey({ organization, onCreated }: { organization: string; onCreated: () => void }) {
  const [issued, setIssued] = useState<IssuedKey | null>(null);
  const [create, isCreating] = useAction(async (form: HTMLFormElement) => {
    const { scope, ...asked } = valuesOf(form);
    const scopes = scope ? [scope] : [];
    setIssued(await call<IssuedKey>("POST", "keys", { ...asked, organization, scopes }));
    form.reset();
    onCreated();
  });
  return (
    <>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          create(event.currentTarget);
        }}
      >
        <Field label="Label" name="label" placeholder="production" />
        <Choice
          label="Additional scope"
          name="scope"
          none="none"
          options={{ "webhooks:manage": "webhooks:manage" }}
        />
        <button class="button" aria-busy={isCreating}>
          Create key
        </button>
      </form>
      {issued && (
        <div class="issued" role="status">
          <p>
            The token is shown only now. Copy it, and send it to the partner over a safe channel.
          </p>
          <code>{issued.token}</code>
          <div class="buttons">
            <Copy text={issued.token} what="the token" label="Copy token" />
            <Button act={() => setIssued(null)} kind="plain">
              Hide the token
            </Button>
          </div>
        </div>
      )}
    </>
  );
}
