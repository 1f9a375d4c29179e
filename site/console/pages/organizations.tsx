import { call } from "../api/call.ts";
import type { Organization } from "../api/shapes.ts";
import { usePages } from "../api/use-pages.ts";
import { useAction } from "../components/button.tsx";
import { Field, valuesOf } from "../components/field.tsx";
import { List } from "../components/list.tsx";
import { count } from "../components/numbers.ts";
import { OrganizationLink } from "../components/id.tsx";
import { PageHead } from "../components/page-head.tsx";
import { Panel } from "../components/panel.tsx";
import { Empty } from "../components/states.tsx";
import type { Column } from "../components/table.tsx";
import { Ago } from "../components/time.tsx";
import { useReport } from "../components/toasts.tsx";
import { go, recordAddress } from "../place.ts";
import { useMayChange } from "../session/session.tsx";

const COLUMNS: Column<Organization>[] = [
  { title: "Organization", line: 1, show: ({ slug }) => <OrganizationLink slug={slug} /> },
  { title: "Id", line: 2, show: ({ id }) => <span class="id quiet">{id}</span> },
  {
    title: "Requests a minute, at most",
    number: true,
    line: 1,
    end: true,
    show: ({ rate_limit_per_minute: limit }) => count(limit),
  },
  { title: "Created", line: 3, show: ({ created_at }) => <Ago at={created_at} /> },
];

const CELL: Column<Organization> = { title: "Cell", line: 3, show: ({ cell }) => cell };

export function OrganizationsPage({ query }: { query: Record<string, string> }) {
  const pages = usePages<Organization>("organizations", query);
  const isPlaced = pages.items?.some(({ cell }) => cell !== undefined);
  const mayChange = useMayChange();
  return (
    <>
      <PageHead title="Organizations" />
      {mayChange && <CreateOrganization />}
      <Panel title="All organizations" note="in order of slug">
        <List
          name="Organizations"
          pages={pages}
          columns={isPlaced ? [...COLUMNS, CELL] : COLUMNS}
          keyOf={({ id }) => id}
          empty={
            <Empty icon="organizations" title="No organization yet">
              <p>An organization is a partner's account. Its keys share its rate limit.</p>
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

function CreateOrganization() {
  const { say } = useReport();
  const [create, isCreating] = useAction(async (form: HTMLFormElement) => {
    const { slug } = await call<Organization>("POST", "organizations", valuesOf(form));
    go(recordAddress("organizations", slug));
    say(`${slug} is created. Create a key for it next.`);
  });
  return (
    <Panel title="New organization">
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          create(event.currentTarget);
        }}
      >
        <Field label="Slug (permanent)" name="slug" required placeholder="acme" />
        <button class="button main" aria-busy={isCreating}>
          Create
        </button>
      </form>
    </Panel>
  );
}
