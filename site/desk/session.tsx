import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import {
  createPartnerClient,
  type Identity,
  type PartnerClient,
} from "../../src/client/partner-client.ts";
import { useAction } from "../console/components/button.tsx";
import { Field, valuesOf } from "../console/components/field.tsx";
import { Icon } from "../console/components/icon.tsx";
import { Problem } from "../console/api/problem.ts";
import { kept } from "../console/kept.ts";
import { Loading } from "../console/components/states.tsx";
import { Brand } from "./brand.tsx";
import { DocsLink } from "./docs-link.tsx";
import { BASE_URL } from "./service.ts";
import { answerOf, Refusal } from "./answer.ts";

/** The tab's own storage. The browser empties it when the tab is closed, and no other tab reads it. */
const keptKey = kept("sessionStorage", "partner-api-key");

export const NEEDED_SCOPE = "webhooks:manage";

interface Session {
  client: PartnerClient;
  identity: Identity;
  /** Signing secrets that this tab has seen, by subscription. They are gone with the tab. */
  secrets: Map<string, string>;
  /** The subscriptions that this tab has created. It alone can show their secrets. */
  issued: Set<string>;
  signOut: (why?: string) => void;
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("There is no session.");
  return session;
}

/** Asks for an API key, and shows `children` to whoever has one. */
export function KeyGate({ children }: { children: ComponentChildren }) {
  const [session, setSession] = useState<Omit<Session, "signOut"> | null>(null);
  const [why, setWhy] = useState("");
  const [isKnown, setIsKnown] = useState(false);

  const enter = async (token: string, keep: boolean) => {
    const client = createPartnerClient({ baseUrl: BASE_URL, token });
    const identity = await answerOf(client.getIdentity());
    if (keep) keptKey.write(token);
    setSession({ client, identity, secrets: new Map(), issued: new Set() });
  };

  useEffect(() => {
    const token = keptKey.read();
    if (token === null) {
      setIsKnown(true);
      return;
    }
    enter(token, false)
      .catch((error: unknown) => {
        if (!(error instanceof Problem && error.isTemporary)) keptKey.write(null);
        setWhy(inWords(error));
      })
      .finally(() => setIsKnown(true));
  }, []);

  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      if (session && session.issued.size > 0) event.preventDefault(); // Nothing else can show their secrets again.
    };
    addEventListener("beforeunload", guard);
    return () => removeEventListener("beforeunload", guard);
  }, [session]);

  const signedIn = useMemo<Session | null>(() => {
    if (session === null) return null;
    const signOut = (reason = "") => {
      keptKey.write(null);
      setSession(null);
      setWhy(reason);
      location.hash = "";
    };
    return { ...session, signOut };
  }, [session]);

  if (!isKnown) {
    return (
      <main id="content" class="sign-in">
        <Loading lines={2} />
      </main>
    );
  }
  if (signedIn === null) return <KeyForm why={why} enter={enter} />;
  return <SessionContext.Provider value={signedIn}>{children}</SessionContext.Provider>;
}

function KeyForm({
  why,
  enter,
}: {
  why: string;
  enter: (token: string, keep: boolean) => Promise<void>;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState(why);
  const [send, isSending] = useAction(async (given: HTMLFormElement) => {
    setError("");
    const { key = "", keep } = valuesOf(given);
    await enter(key, keep === "yes").catch((problem: unknown) => setError(inWords(problem)));
  });
  useLayoutEffect(() => {
    document.title = "API key";
    form.current?.querySelector<HTMLElement>("input[type=password]")?.focus();
  }, []);

  return (
    <main id="content" class="sign-in">
      <div class="panel">
        <Brand />
        <h1>Your API key</h1>
        {error && (
          <div class="alert" role="alert">
            <Icon name="warning" />
            <p>{error}</p>
          </div>
        )}
        <form
          ref={form}
          onSubmit={(event) => {
            event.preventDefault();
            send(event.currentTarget);
          }}
        >
          <Field
            label="API key"
            name="key"
            type="password"
            required
            placeholder="vck_…"
            hint={
              <>
                The whole token, <code>vck_</code> and both halves. The operator of the service gave
                it to you.
              </>
            }
          />
          <label class="check">
            <input type="checkbox" name="keep" value="yes" /> Keep it until this tab is closed
          </label>
          <button class="button main" aria-busy={isSending}>
            Open
          </button>
        </form>
        <p class="quiet">
          The key stays in this tab, and is sent to this service alone. It is gone when you sign
          out, close the tab, or reload the page without having kept it.{" "}
          <DocsLink to="/quickstart">The same with curl</DocsLink>.
        </p>
      </div>
    </main>
  );
}

/** The reason, and what to do about it. */
function inWords(error: unknown): string {
  if (error instanceof Refusal && error.status === 401) {
    return "The service does not accept this key. Copy it again, whole. If that does not help, it is revoked or has expired: ask the operator of the service for a new one.";
  }
  return error instanceof Error
    ? error.message
        .replace(/^token must be/, "The key must be")
        .replace(/, without a scheme.*$/, ".")
    : String(error);
}
