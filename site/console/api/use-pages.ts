import { useCallback, useEffect, useState } from "preact/hooks";
import { call, pathOf } from "./call.ts";
import { Problem } from "./problem.ts";
import { whenVisible } from "./when-visible.ts";
import type { Page } from "./shapes.ts";

const RETRY_MS = 5_000;

/** A list of the API, read page by page. After a temporary error it is read again. */
export interface Pages<T> {
  items: T[] | null;
  /** The cells that did not answer, so that their items are missing. */
  away: string[];
  error: Problem | null;
  hasMore: boolean;
  /** Since when all that was created has been searched, if the search stopped before the end. */
  searchedUntil: string | null;
  isReading: boolean;
  more: () => void;
  reload: () => void;
}

interface Read<T> {
  path: string;
  items: T[] | null;
  away: string[];
  cursor: string | null;
  searchedUntil: string | null;
  error: Problem | null;
}

type Answer<T> = Page<T> & { searched_until?: string | null };

export function usePages<T>(path: string, query: Record<string, string | undefined>): Pages<T> {
  const asked = pathOf(path, query);
  const [read, setRead] = useState<Read<T>>({ path: asked, ...NOTHING });
  const [isReading, setIsReading] = useState(false);
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    const stop = new AbortController();
    let timer: number | undefined;
    let forget: () => void = () => undefined;
    const again = () => {
      forget = whenVisible(() => setTurn((before) => before + 1));
    };
    setIsReading(true);
    call<Answer<T>>("GET", asked, undefined, stop.signal)
      .then(({ items, next_cursor: cursor, unreachable: away = [], searched_until: end = null }) =>
        setRead({ path: asked, items, away, cursor, searchedUntil: end, error: null }),
      )
      .catch((error: unknown) => {
        if (stop.signal.aborted || !(error instanceof Problem)) return;
        setRead((last) =>
          last.path === asked ? { ...last, error } : { ...NOTHING, path: asked, error },
        );
        if (error.isTemporary) timer = window.setTimeout(again, RETRY_MS);
      })
      .finally(() => {
        if (!stop.signal.aborted) setIsReading(false);
      });
    return () => {
      stop.abort();
      forget();
      window.clearTimeout(timer);
    };
  }, [asked, turn]);

  const { cursor } = read;
  const more = useCallback(() => {
    if (cursor === null || isReading) return;
    setIsReading(true);
    call<Answer<T>>("GET", `${asked}${asked.includes("?") ? "&" : "?"}cursor=${cursor}`)
      .then((page) =>
        // An answer for a list that was left meanwhile is dropped.
        setRead((last) =>
          last.path === asked && last.cursor === cursor
            ? {
                ...last,
                items: [...(last.items ?? []), ...page.items],
                away: [...new Set([...last.away, ...(page.unreachable ?? [])])],
                cursor: page.next_cursor,
                searchedUntil: page.searched_until ?? null,
                error: null,
              }
            : last,
        ),
      )
      .catch((error: unknown) => {
        if (error instanceof Problem) setRead((last) => ({ ...last, error }));
      })
      .finally(() => setIsReading(false));
  }, [asked, cursor, isReading]);

  const current = read.path === asked ? read : { ...NOTHING };
  return {
    items: current.items,
    away: current.away,
    error: current.error,
    hasMore: current.cursor !== null,
    searchedUntil: current.searchedUntil,
    isReading,
    more,
    reload: useCallback(() => setTurn((before) => before + 1), []),
  };
}

const NOTHING = { items: null, away: [], cursor: null, searchedUntil: null, error: null };
