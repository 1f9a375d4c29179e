import type uPlot from "uplot";
import type { MarkShown } from "../api/shapes.ts";

/** A change that a chart marks at its time. */
export interface Mark extends Omit<MarkShown, "at"> {
  at: Date;
}

const COLOURS: Record<Mark["kind"], string> = {
  started: "good",
  stopped: "warn",
  disabled: "bad",
  release: "accent",
  changed: "quiet",
};

/** Paints a dashed line for each mark, with a shape for its kind at the top. */
export function drawMarks(plot: uPlot, marks: Mark[], colourOf: (name: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  for (const { at, kind } of marks) {
    const x = plot.valToPos(at.getTime() / 1000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = ctx.fillStyle = colourOf(COLOURS[kind]);
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    drawShape(ctx, kind, x, bbox.top, 4 * devicePixelRatio);
  }
  ctx.restore();
}

function drawShape(
  ctx: CanvasRenderingContext2D,
  kind: Mark["kind"],
  x: number,
  y: number,
  r: number,
): void {
  ctx.beginPath();
  if (kind === "started") {
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y);
    ctx.lineTo(x - r, y + r);
  } else if (kind === "stopped") {
    ctx.rect(x - r, y - r, 2 * r, 2 * r);
  } else if (kind === "release") {
    ctx.moveTo(x, y - r);
    ctx.lineTo(x + r, y);
    ctx.lineTo(x, y + r);
    ctx.lineTo(x - r, y);
  } else if (kind === "changed") {
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y - r);
    ctx.lineTo(x, y + r);
  } else {
    ctx.arc(x, y, r, 0, 2 * Math.PI);
  }
  ctx.fill();
}
