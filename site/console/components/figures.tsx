import type { ComponentChildren } from "preact";

export interface Figure {
  label: string;
  value: ComponentChildren;
  unit?: string;
  under?: ComponentChildren;
}

/** A row of large numbers. */
export function Figures({ of }: { of: Figure[] }) {
  return (
    <dl class="figures">
      {of.map(({ label, value, unit, under }) => (
        <div class="figure" key={label}>
          <dt>{label}</dt>
          <dd class="value">
            {value}
            {unit && <span class="unit">{unit}</span>}
          </dd>
          {under && <dd class="under">{under}</dd>}
        </div>
      ))}
    </dl>
  );
}
