import { useCallback, useEffect, useState } from "preact/hooks";
import { Problem } from "../console/api/problem.ts";
import { useSession } from "./session.tsx";

export interface Called<Data> {
  data: Data | null;
  error: Problem | null;
  reload: () => void;
}

/** The data of a call, made again when `reload` is called. A key that is no longer valid ends the session. */
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
        if (error.status === 401) signOut(`${error.message} You are signed out.`);
        else setState((last) => ({ ...last, error }));
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [turn, ...inputs]);
  return { ...state, reload: useCallback(() => setTurn((before) => before + 1), []) };
}

const NOTHING = { data: null, error: null };
