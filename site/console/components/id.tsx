import { addressOf, recordAddress } from "../place.ts";
import { Copy } from "./copy.tsx";

const PAGES: Record<string, string> = {
  org: "organizations",
  wh: "subscriptions",
  evt: "events",
  dlv: "deliveries",
  rdl: "redeliveries",
};

/** An id that leads to its page. `short` shows its last characters, which differ most. */
export function IdLink({ id, short = false }: { id: string; short?: boolean }) {
  const page = PAGES[id.split("_")[0] ?? ""];
  const shown = <span class={short ? "id short" : "id"}>{short ? shorten(id) : id}</span>;
  if (page === undefined) return shown;
  return (
    <a href={recordAddress(page, id)} title={id}>
      {shown}
    </a>
  );
}

export function CopiedId({ id }: { id: string }) {
  return (
    <span class="with-copy">
      <span class="id">{id}</span>
      <Copy text={id} what={id} />
    </span>
  );
}

export function OrganizationLink({ slug }: { slug: string }) {
  return <a href={recordAddress("organizations", slug)}>{slug}</a>;
}

export function HostLink({ host }: { host: string }) {
  return <a href={addressOf("deliveries", { host })}>{host}</a>;
}

/** Ids in order of time begin alike, so the end tells them apart. */
export function shorten(id: string): string {
  const [prefix = "", uuid] = id.split("_");
  if (uuid === undefined) return id; // A key's id.
  return `${prefix}_…${uuid.slice(-8)}`;
}
