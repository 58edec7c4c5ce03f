// Sub-second heat map: a column for each interval (usually a second), in which rows are parts of
// the interval from bottom to top; the darker, the more samples. Activity that recurs every second,
// and activity that happens once, can be seen at a glance. A drag selects everything between two
// cells in time.

import { Profile } from "./data.js";
import { Theme } from "./colors.js";
import { el, fit, followPointer, oncePerFrame } from "./dom.js";
import { grouped, seconds } from "./text.js";

export interface HeatmapContent {
  profile: Profile;
  columns: number[];
  passes: ((sample: number) => boolean) | null;
  range: [number, number] | null;
  stretch: number;   // µs per column
  theme: Theme;
}

export interface HeatmapActions {
  chooseRange(range: [number, number] | null): void;
  hover(lines: string[], x: number, y: number): void;
  leave(): void;
}

export const heatmapRows = 50;
const axisHeight = 22;
const axisWidth = 64;

/// Lengths of a column, in µs, to choose from.
export const stretches: [number, string][] = [[1e4, "10 ms"], [1e5, "100 ms"], [1e6, "1 s"], [1e7, "10 s"], [6e7, "1 min"]];

/// One that gives a useful number of columns.
export function usualStretch(last: number): number {
  if (last < 1e6) return 1e4;
  if (last < 1e7) return 1e5;
  return last <= 3e9 ? 1e6 : 6e7;
}

export class Heatmap {
  readonly element = el("div", { class: "heatmap", tabindex: "0" });
  private canvas = el("canvas");
  private spacer = el("div", { class: "spacer" });
  private content: HeatmapContent | null = null;
  private cells = new Float64Array(0);
  private highest = 0;
  private drag: { from: number; to: number } | null = null;

  constructor(private actions: HeatmapActions) {
    this.spacer.append(this.canvas);
    this.element.append(this.spacer);
    this.element.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    this.canvas.addEventListener("mousemove", (event) => this.onHover(event));
    this.canvas.addEventListener("mouseleave", () => this.actions.leave());
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  show(content: HeatmapContent): void {
    this.content = content;
    this.count();
    this.redraw();
  }

  private get columns(): number {
    const samples = this.content?.profile.samples;
    const last = samples && samples.count > 0 ? samples.time[samples.count - 1] : 0;
    return Math.floor(last / this.content!.stretch) + 1;
  }
  private get cellWidth(): number {
    const room = (this.element.clientWidth - axisWidth - 12) / this.columns;
    return Math.max(4, Math.floor(room));
  }
  private get cellHeight(): number {
    return Math.max(4, (this.element.clientHeight - axisHeight - 20) / heatmapRows);
  }

  /// Samples by cell: cell = column * rows + row.
  private count(): void {
    const { profile, columns, passes, stretch } = this.content!;
    const samples = profile.samples!;
    this.cells = new Float64Array(this.columns * heatmapRows);
    this.highest = 0;
    const size = stretch / heatmapRows;
    for (let i = 0; i < samples.count; ++i) {
      if (!columns.includes(samples.column[i]) || (passes && !passes(i))) continue;
      this.highest = Math.max(this.highest, ++this.cells[Math.floor(samples.time[i] / size)]);
    }
  }

  readonly redraw = oncePerFrame(() => this.draw());

  private draw(): void {
    const content = this.content;
    const width = this.element.clientWidth, height = this.element.clientHeight;
    if (!content || width === 0 || height === 0) return;
    this.spacer.style.width = `${axisWidth + this.columns * this.cellWidth + 12}px`;
    this.spacer.style.height = `${heatmapRows * this.cellHeight + axisHeight + 12}px`;
    const context = fit(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    const { scrollLeft } = this.element;
    const first = Math.max(0, Math.floor(scrollLeft / this.cellWidth) - 1);
    const last = Math.min(this.columns, Math.ceil((scrollLeft + width - axisWidth) / this.cellWidth) + 1);
    for (let column = first; column < last; ++column)
      for (let row = 0; row < heatmapRows; ++row) this.drawCell(context, column, row);
    this.drawAxes(context, first, last, height);
  }
  private cellTop(row: number): number {
    return 8 + (heatmapRows - 1 - row) * this.cellHeight - this.element.scrollTop;
  }
  private drawCell(context: CanvasRenderingContext2D, column: number, row: number): void {
    const { theme, range, stretch } = this.content!;
    const cell = column * heatmapRows + row;
    const gap = this.cellWidth > 6 ? 1 : 0;
    const x = axisWidth + column * this.cellWidth - this.element.scrollLeft, y = this.cellTop(row);
    const share = this.highest > 0 ? this.cells[cell] / this.highest : 0;
    context.fillStyle = cellColor(share, theme);
    context.fillRect(x, y, this.cellWidth - gap, this.cellHeight - (this.cellHeight > 6 ? 1 : 0));
    const chosen = this.drag ? [this.drag.from, this.drag.to].sort((a, b) => a - b) : null;
    const size = stretch / heatmapRows;
    const isIn = chosen ? cell >= chosen[0] && cell <= chosen[1]
      : range ? (cell + 1) * size > range[0] && cell * size <= range[1] : false;
    if (!isIn) return;
    context.globalAlpha = 0.38;
    context.fillStyle = theme.accent;
    context.fillRect(x, y, this.cellWidth, this.cellHeight);
    context.globalAlpha = 1;
  }
  private drawAxes(context: CanvasRenderingContext2D, first: number, last: number, height: number): void {
    const { theme, stretch } = this.content!;
    const left = this.element.scrollLeft;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, axisWidth - 2, height);
    context.fillStyle = theme.text;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let row = 0; row <= heatmapRows; row += 10) {
      const y = this.cellTop(row) + this.cellHeight;
      context.fillText(offsetText((row * stretch) / heatmapRows), axisWidth - 8, Math.max(8, y));
    }
    context.textAlign = "left";
    const bottom = this.cellTop(0) + this.cellHeight + 4;
    const step = Math.max(1, Math.ceil(70 / this.cellWidth));
    const nice = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((s) => s >= step) ?? step;
    for (let column = Math.ceil(first / nice) * nice; column < last; column += nice) {
      const x = axisWidth + column * this.cellWidth - left;
      if (x < axisWidth) continue;
      context.fillStyle = theme.line;
      context.fillRect(x, bottom - 3, 1, 6);
      context.fillStyle = theme.text;
      context.fillText(seconds(column * stretch, stretch >= 1e6 ? 0 : stretch >= 1e5 ? 1 : 2), x + 3, bottom + 8);
    }
  }

  private cellAt(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left + this.element.scrollLeft - axisWidth;
    const y = event.clientY - box.top;
    const column = Math.floor(x / this.cellWidth);
    const row = heatmapRows - 1 - Math.floor((y - 8 + this.element.scrollTop) / this.cellHeight);
    if (column < 0 || column >= this.columns || row < 0 || row >= heatmapRows) return -1;
    return column * heatmapRows + row;
  }
  private rangeOf(from: number, to: number): [number, number] {
    const size = this.content!.stretch / heatmapRows;
    const [first, last] = from < to ? [from, to] : [to, from];
    return [Math.round(first * size), Math.round((last + 1) * size) - 1];
  }
  private onDown(event: PointerEvent): void {
    const cell = this.cellAt(event);
    if (event.button !== 0 || !event.isPrimary || cell < 0) return;
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    this.drag = { from: cell, to: cell };
    const move = (moved: PointerEvent) => {
      const at = this.cellAt(moved);
      if (at >= 0) this.drag!.to = at;
      this.redraw();
    };
    const up = (_: PointerEvent, isCancelled: boolean) => {
      const drag = this.drag!;
      this.drag = null;
      if (isCancelled) return this.redraw();
      this.actions.chooseRange(this.rangeOf(drag.from, drag.to));
    };
    followPointer(move, up);
  }
  private onHover(event: MouseEvent): void {
    const cell = this.cellAt(event);
    this.canvas.style.cursor = cell >= 0 ? "crosshair" : "default";
    if (cell < 0) return this.actions.leave();
    const size = this.content!.stretch / heatmapRows;
    const count = this.cells[cell];
    this.actions.hover([`${grouped(count)} ${count === 1 ? "sample" : "samples"}`,
                        `${seconds(cell * size, 4)} – ${seconds((cell + 1) * size, 4)}`], event.clientX, event.clientY);
  }
}

function offsetText(microseconds: number): string {
  return microseconds >= 1e6 ? `${microseconds / 1e6} s` : `${microseconds / 1e3} ms`;
}

function cellColor(share: number, theme: Theme): string {
  if (share === 0) return theme.faint;
  const strength = Math.pow(share, 0.7);
  return theme.dark ? `hsl(${(8 + 40 * strength).toFixed(0)} 78% ${(17 + 53 * strength).toFixed(0)}%)`
    : `hsl(${(44 - 40 * strength).toFixed(0)} 88% ${(90 - 48 * strength).toFixed(0)}%)`;
}
