import { useCallback, useEffect, useState } from "preact/hooks";
import { Problem } from "../console/api/problem.ts";
import { againAfterMs } from "./answer.ts";
import { useSession } from "./session.tsx";

export interface Called<Data> {
  data: Data | null;
  error: Problem | null;
  reload: () => void;
}

/** What the page says below a temporary error of a call. */
export const HOPE = "This page tries again by itself.";

/** The data of a call, made again when `reload` is called, and after a temporary error. A key that is no longer valid ends the session. */
export function useCall<Data>(call: () => Promise<Data>, inputs: unknown[] = []): Called<Data> {
  const { signOut } = useSession();
  const [state, setState] = useState<{ data: Data | null; error: Problem | null }>(NOTHING);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    call().then(
      (data) => {
        if (isCurrent) setState({ data, error: null });
      },
      (error: unknown) => {
        if (!isCurrent) return;
        if (!(error instanceof Problem)) throw error;
        if (error.status === 401) signOut(REVOKED);
        else setState((last) => ({ ...last, error }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [turn, ...inputs]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const { error } = state;
  useEffect(() => {
    if (!error?.isTemporary) return;
    const timer = setTimeout(reload, againAfterMs(error));
    return () => clearTimeout(timer);
  }, [error]);
  return { ...state, reload };
}

const REVOKED =
  "The service does not accept this key any more: it was revoked. You are signed out. Ask the operator of the service for a new one.";

const NOTHING = { data: null, error: null };
