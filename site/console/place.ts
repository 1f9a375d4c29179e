import { useEffect, useState } from "preact/hooks";

/** A page of the console and its filters, from the fragment of the address, which no server sees. */
export interface Place {
  page: string;
  /** The part after the page's name, such as an id. */
  id: string | null;
  query: Record<string, string>;
}

export function here(): Place {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", id] = path.split("/");
  return {
    page,
    id: id ? decode(id) : null,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export type Filters = Record<string, string | undefined>;

export function addressOf(page: string, query: Filters = {}): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const asked = String(new URLSearchParams(kept));
  return asked === "" ? `#/${page}` : `#/${page}?${asked}`;
}

export const recordAddress = (page: string, id: string): string =>
  `#/${page}/${encodeURIComponent(id)}`;

export function go(address: string): void {
  location.hash = address;
}

export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const follow = () => setPlace(here());
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  return place;
}
