import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

const APPLICATION =
  document.querySelector<HTMLMetaElement>("meta[name=application-name]")?.content ?? "";

/**
 * The head of a page. A new page's heading gets the focus, so that a screen reader reads it. This happens before the page is painted,
 * or it would take the focus from a field that the operator has begun to fill in.
 */
export function PageHead({
  title,
  parent,
  beside,
  under,
  actions,
}: {
  title: string;
  parent?: { label: string; href: string };
  beside?: ComponentChildren;
  /** A line of small text below the title. */
  under?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${title} · ${APPLICATION}`;
    heading.current?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }, [title]);
  return (
    <div class="page-head">
      <div class="titles">
        {parent && (
          <div class="crumbs">
            <a href={parent.href}>{parent.label}</a>
            <Icon name="right" size={12} />
          </div>
        )}
        <div class="title-line">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {beside}
        </div>
        {under && <p class="under">{under}</p>}
      </div>
      {actions && <div class="buttons">{actions}</div>}
    </div>
  );
}
