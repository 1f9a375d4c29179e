/** Drawn on 16 by 16. Shapes of states differ, so that colour is not needed to tell them apart. */
const PATHS = {
  overview: "M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z",
  deliveries: "M2 3h12M2 8h12M2 13h8",
  redeliveries: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5V4.5H10.5",
  organizations: "M3 14V2h7v12M10 6h3v8M1.5 14h13M5.5 5h2M5.5 8h2M5.5 11h2",
  subscriptions:
    "M6.5 9.5l3-3M5 7L3.4 8.6a2.8 2.8 0 0 0 4 4L9 11M7 5l1.6-1.6a2.8 2.8 0 0 1 4 4L11 9",
  types: "M2 2h6l6 6-6 6-6-6zM5 5h.01",
  changes: "M3 2h7l3 3v9H3zM6 7h4M6 10h4",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM14 14l-3.5-3.5",
  menu: "M2 4h12M2 8h12M2 12h12",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  check: "M3 8.5l3.5 3.5L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  dead: "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2zM5.5 5.5l5 5M10.5 5.5l-5 5",
  clock: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM8 4.5V8l2.5 1.5",
  ban: "M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM3.5 3.5l9 9",
  warning: "M8 2l6.5 12h-13zM8 6.5v3.5M8 12h.01",
  play: "M4 2.5l9 5.5-9 5.5z",
  pause: "M5 3v10M11 3v10",
  stop: "M3.5 3.5h9v9h-9z",
  dot: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6z",
  refresh: "M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 1.5V4.5H10.5",
  right: "M6 3l5 5-5 5",
  lock: "M4 7h8v7H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  send: "M14 2L7 9M14 2L9.5 14 7 9 2 6.5z",
  link: "M6.5 9.5l3-3M5 7L3.4 8.6a2.8 2.8 0 0 0 4 4L9 11M7 5l1.6-1.6a2.8 2.8 0 0 1 4 4L11 9",
  spark: "M1.5 8H5l2-5 3 10 2-5h2.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32">
      <rect width="32" height="32" rx="7" fill="#3a4fd0" />
      <path d="M8 17l5 5 11-12" fill="none" stroke="#fff" stroke-width="3.5" />
    </svg>
  );
}
