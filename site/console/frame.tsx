import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Badge } from "./components/badge.tsx";
import { Button } from "./components/button.tsx";
import { Icon, type IconName, Logo } from "./components/icon.tsx";
import { SearchBox } from "./components/search-box.tsx";
import { ThemeChoice } from "./components/theme-choice.tsx";
import { useSession } from "./session/session.tsx";

type Entry = [page: string, label: string, icon: IconName];

const GROUPS: [string, Entry[]][] = [
  ["Now", [["overview", "Overview", "overview"]]],
  [
    "Traffic",
    [
      ["deliveries", "Deliveries", "deliveries"],
      ["redeliveries", "Redeliveries", "redeliveries"],
      ["event-types", "Event types", "types"],
    ],
  ],
  [
    "Partners",
    [
      ["organizations", "Organizations", "organizations"],
      ["subscriptions", "Subscriptions", "subscriptions"],
    ],
  ],
  ["Operators", [["changes", "Changes", "changes"]]],
];

/** Navigation, search and sign-out around a page. */
export function Frame({ current, children }: { current: string; children: ComponentChildren }) {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const close = () => setIsOpen(false);
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === "Escape") close();
    };
    window.addEventListener("hashchange", close);
    document.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("hashchange", close);
      document.removeEventListener("keydown", onKey);
    };
  }, []);

  return (
    <div class="frame">
      <header class="top">
        <button
          type="button"
          class="button menu-button"
          aria-expanded={isOpen}
          aria-controls="side"
          aria-label="Menu"
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name="menu" />
        </button>
        <SearchBox />
      </header>
      {isOpen && <div class="veil" onClick={() => setIsOpen(false)} />}
      <aside id="side" class={`side ${isOpen ? "open" : ""}`} aria-label="Console">
        <a class="brand" href="#/overview">
          <Logo /> Partner API
        </a>
        <nav aria-label="Pages">
          {GROUPS.map(([title, entries]) => (
            <div key={title}>
              <h2>{title}</h2>
              {entries.map(([page, label, icon]) => (
                <a
                  key={page}
                  href={`#/${page}`}
                  aria-current={page === current ? "page" : undefined}
                >
                  <Icon name={icon} />
                  {label}
                </a>
              ))}
            </div>
          ))}
        </nav>
        <SideFoot />
      </aside>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function SideFoot() {
  const { name, mayChange, signOut } = useSession();
  return (
    <div class="side-foot">
      <ThemeChoice />
      <div class="who">
        <span class="quiet">Signed in as</span> {name}
        {!mayChange && <Badge icon="lock">read only</Badge>}
      </div>
      <Button act={signOut} kind="small">
        Sign out
      </Button>
    </div>
  );
}
