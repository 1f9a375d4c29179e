import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { call, signedOut } from "../api/call.ts";
import { Problem } from "../api/problem.ts";
import type { SessionInfo } from "../api/shapes.ts";

/** Other tabs share the cookie, and should learn at once that it is gone. */
const tabs = new BroadcastChannel("partner-api-session");

interface Session extends SessionInfo {
  mayChange: boolean;
  signOut: () => Promise<void>;
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("There is no session.");
  return session;
}

/** True if the operator's token may change something. Controls that change are shown only then. */
export const useMayChange = (): boolean => useSession().mayChange;

type State =
  | { kind: "unknown"; error: Problem | null }
  | { kind: "out"; why: string }
  | { kind: "in"; info: SessionInfo };

/** Shows `children` to an operator who is signed in, and `door` to everybody else. */
export function SessionGate({
  door,
  waiting,
  children,
}: {
  door: (why: string, enter: () => Promise<void>) => ComponentChildren;
  waiting: (error: Problem | null) => ComponentChildren;
  children: ComponentChildren;
}) {
  const [state, setState] = useState<State>({ kind: "unknown", error: null });

  useEffect(() => {
    const leave = (why: string) => setState({ kind: "out", why });
    const onSignedOut = (event: Event) => leave((event as CustomEvent<string>).detail);
    const onTab = ({ data }: MessageEvent<string>) =>
      data === "out" ? leave("You signed out in another tab.") : void enter(setState);
    signedOut.addEventListener("signed-out", onSignedOut);
    tabs.addEventListener("message", onTab);
    return () => {
      signedOut.removeEventListener("signed-out", onSignedOut);
      tabs.removeEventListener("message", onTab);
    };
  }, []);

  const isUnknown = state.kind === "unknown";
  useEffect(() => {
    if (!isUnknown) return;
    void enter(setState);
    const timer = setInterval(() => void enter(setState), RETRY_MS);
    return () => clearInterval(timer);
  }, [isUnknown]);

  const session = useMemo<Session | null>(() => {
    if (state.kind !== "in") return null;
    const signOut = async () => {
      await call("DELETE", "session");
      tabs.postMessage("out");
      setState({ kind: "out", why: "" });
    };
    return { ...state.info, mayChange: state.info.role === "operate", signOut };
  }, [state]);

  if (state.kind === "unknown") return waiting(state.error);
  if (state.kind === "out") {
    return door(state.why, async () => {
      await enter(setState, NOT_KEPT);
      tabs.postMessage("in");
    });
  }
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

const RETRY_MS = 3_000;

const NOT_KEPT =
  "Your browser has not kept the session: allow cookies for this address. Over http, a proxy must not " +
  "send X-Forwarded-Proto: https.";

/** Asks whose session the cookie is. `why`: what it means if there is none. */
async function enter(setState: (state: State) => void, why = ""): Promise<void> {
  try {
    setState({ kind: "in", info: await call<SessionInfo>("GET", "session") });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 401) setState({ kind: "out", why });
    else setState({ kind: "unknown", error });
  }
}
