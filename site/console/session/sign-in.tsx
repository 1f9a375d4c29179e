import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { call } from "../api/call.ts";
import { Problem } from "../api/problem.ts";
import { useAction } from "../components/button.tsx";
import { Field, valuesOf } from "../components/field.tsx";
import { Icon, Logo } from "../components/icon.tsx";

export function SignIn({ why, enter }: { why: string; enter: () => Promise<void> }) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState(why);
  const [send, isSending] = useAction(async (given: HTMLFormElement) => {
    setError("");
    try {
      await call("POST", "session", { token: valuesOf(given).token ?? "" });
      await enter();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      setError(problem.message);
    }
  });

  useLayoutEffect(() => {
    document.title = "Sign in · Partner API console";
    form.current?.querySelector<HTMLElement>("input[type=password]")?.focus();
  }, []);

  return (
    <main id="content" class="sign-in">
      <div class="panel">
        <span class="brand">
          <Logo /> Partner API
        </span>
        <h1>Sign in</h1>
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
          {/* For password managers, which keep a password under a name. */}
          <input type="text" name="name" autocomplete="username" value="operator" hidden readOnly />
          <Field
            label="Operator token"
            name="token"
            type="password"
            required
            autocomplete="current-password"
          />
          <button class="button main" aria-busy={isSending}>
            Sign in
          </button>
        </form>
        <p class="quiet">
          The token is in <code>ADMIN_TOKEN</code>, or in the file <code>admin-token</code> of the
          service's data folder. You stay signed in for 12 hours.
        </p>
      </div>
    </main>
  );
}
