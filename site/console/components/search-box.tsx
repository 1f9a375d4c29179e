import { useEffect, useId, useRef, useState } from "preact/hooks";
import { find } from "../api/find.ts";
import type { Finds, Found } from "../api/shapes.ts";
import { go } from "../place.ts";
import { addressOfFound, KINDS } from "./found.ts";
import { Icon } from "./icon.tsx";
import { isTyping } from "./keys.ts";
import { noAnswerOf } from "./states.tsx";

const PAUSE_MS = 120;

/** Takes any id, slug, event type or host. The key `/` leads here. */
export function SearchBox() {
  const [text, setText] = useState("");
  /** The things that were found, and the text that was searched for. */
  const [finds, setFinds] = useState<(Finds & { asked: string }) | null>(null);
  const { items: found = null, unreachable: away = [] } = finds ?? {};
  const [chosen, setChosen] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const listId = useId();

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "/" || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  useEffect(() => {
    const asked = text.trim();
    if (asked === "") {
      setFinds(null);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      find(asked, stop.signal).then(
        (answer) => {
          setFinds({ ...answer, asked });
          setChosen(0);
        },
        () => undefined, // The next key asks again.
      );
    }, PAUSE_MS);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [text]);

  const close = () => {
    setText("");
    setFinds(null);
  };
  const open = (item: Found | undefined) => {
    if (item === undefined) return;
    close();
    input.current?.blur();
    go(addressOfFound(item));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = (found?.length ?? 0) - 1;
    if (event.key === "ArrowDown") setChosen(Math.min(last, chosen + 1));
    else if (event.key === "ArrowUp") setChosen(Math.max(0, chosen - 1));
    else if (event.key === "Escape") close();
    else if (event.key === "Enter") {
      const asked = text.trim();
      if (finds?.asked === asked) open(found?.[chosen]);
      // Pasted and confirmed before its list was there.
      else if (asked !== "") void find(asked).then(({ items: [first] }) => open(first));
    } else return;
    event.preventDefault();
  };

  return (
    <div class="search" role="search">
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search"
        aria-expanded={found !== null}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={found?.length ? `${listId}-${chosen}` : undefined}
        placeholder="Any id, slug, event type or host"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={() => setFinds(null)}
      />
      {text === "" && <kbd aria-hidden="true">/</kbd>}
      <div class="found" role="listbox" id={listId} aria-label="Found" hidden={!found?.length}>
        {found?.map((item, index) => (
          <div
            key={`${item.kind} ${item.id}`}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // Before the field loses the focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              open(item);
            }}
          >
            <span class="kind">{KINDS[item.kind] ?? item.kind}</span>
            <span class="label">{item.label}</span>
          </div>
        ))}
        {away.length > 0 && (
          <div role="option" aria-disabled="true" aria-selected={false}>
            <span class="label">{noAnswerOf(away)}: there may be more matches in it.</span>
          </div>
        )}
      </div>
      {found?.length === 0 && (
        <div class="found" role="status">
          <p>
            {away.length === 0
              ? "Nothing has this id, slug, event type or host."
              : `Nothing was found. ${noAnswerOf(away)}: there may be a match in it.`}
          </p>
        </div>
      )}
    </div>
  );
}
