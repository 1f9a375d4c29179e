import type { ComponentChildren } from "preact";
import { Button } from "../console/components/button.tsx";
import { Icon, type IconName } from "../console/components/icon.tsx";
import { ThemeChoice } from "../console/components/theme-choice.tsx";
import { usePlace } from "../console/place.ts";
import { Brand } from "./brand.tsx";
import { DocsLink } from "./docs-link.tsx";
import { NEEDED_SCOPE, useSession } from "./session.tsx";

const PAGES: [page: string, label: string, icon: IconName][] = [
  ["subscriptions", "Subscriptions", "subscriptions"],
  ["check", "Check a signature", "check"],
];

/** The name of the caller, the pages and sign-out around a page. */
export function Frame({ children }: { children: ComponentChildren }) {
  const { identity, signOut } = useSession();
  const { page } = usePlace();
  const current = page === "check" ? "check" : "subscriptions";
  const mayManage = identity.scopes.includes(NEEDED_SCOPE) || current === "check";
  return (
    <div class="desk">
      <header>
        <Brand />
        <nav aria-label="Pages">
          {PAGES.map(([name, label, icon]) => (
            <a key={name} href={`#/${name}`} aria-current={name === current ? "page" : undefined}>
              <Icon name={icon} />
              {label}
            </a>
          ))}
          <DocsLink>
            <Icon name="changes" />
            Documentation
          </DocsLink>
        </nav>
        <div class="caller">
          <span>
            {identity.partner_org} <code>{`vck_${identity.key_id.replace(/^vck_/, "")}`}</code>
          </span>
          <Button act={() => signOut()} kind="small">
            Sign out
          </Button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {mayManage ? children : <WeakKey />}
      </main>
      <footer>
        <ThemeChoice />
        <span class="quiet">
          {identity.rate_limit_per_minute} requests a minute. This page uses{" "}
          <DocsLink to="/reference">the six calls</DocsLink> of your programs.
        </span>
      </footer>
    </div>
  );
}

function WeakKey() {
  const { identity } = useSession();
  return (
    <div class="alert" role="alert">
      <Icon name="lock" />
      <p>
        This key lacks the scope <code>{NEEDED_SCOPE}</code>: it has{" "}
        {identity.scopes.map((scope) => (
          <code key={scope}>{scope} </code>
        ))}
        alone. Ask the operator of the service for a key with it. Checking a signature needs no
        scope.
      </p>
    </div>
  );
}
