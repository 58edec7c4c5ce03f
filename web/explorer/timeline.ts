// Samples over time: a lane for each thread or CPU, or a single one for all, in which columns are
// as high as the weight of the samples there. Dragging selects a range.

import { callRowHeight, callRowsByThread, CallRows, describeCall, drawCalls, lastOf } from "./calls.js";
import { lowerBound, StackChart } from "./chart.js";
import { Profile } from "./data.js";
import { Theme } from "./colors.js";
import { el, fit, followPointer, oncePerFrame } from "./dom.js";
import { Marked } from "./model.js";
import { shortName } from "./names.js";
import { describeSlice, drawBand, Slices, slicesByLane } from "./sched.js";
import { seconds } from "./text.js";

export interface Lane {
  label: string;
  detail: string;
  samples: Uint32Array;  // indices, in time order
  key: number;
  slices?: Slices;       // what the thread did or what ran on the CPU, if known
  calls?: CallRows;      // of the thread, if known
}

export interface TimelineContent {
  profile: Profile;
  lanes: Lane[];
  by: "threads" | "cpus" | "all";
  columns: number[];                       // of the event
  passes: ((sample: number) => boolean) | null;  // except for time
  range: [number, number] | null;          // selected
  kernel: Uint8Array;                      // by node: whether it ends in the kernel
  colors: string[];                        // by frame
  marked: Marked | null;                   // what the strip and the lanes show the share of
  theme: Theme;
  chart: StackChart | null;                // the stacks of threads' lanes, if they are shown
}

export interface TimelineActions {
  chooseRange(range: [number, number] | null): void;
  chooseLane(lane: Lane): void;
  chooseFrame?(frame: number): void;
  hover(lines: string[], x: number, y: number): void;
  leave(): void;
}

const axisHeight = 20;
const binWidth = 2;  // CSS pixels
const bandHeight = 12;
const highestBand = 40;
const sampleHeight = 30;
const callGap = 6;     // below the calls or stacks of a lane

/// Lanes by thread or CPU, the busiest process and thread first.
export function lanesOf(profile: Profile, by: "threads" | "cpus" | "all"): Lane[] {
  const samples = profile.samples;
  if (!samples) return [];
  const all = Uint32Array.from({ length: samples.count }, (_, i) => i);
  if (by === "all") return [{ label: "all", detail: "", samples: all, key: -1 }];
  const key = by === "threads" ? samples.thread : samples.cpu;
  let lanes = by === "threads" ? profile.threads.length : 0;
  if (by === "cpus") for (const cpu of samples.cpu) lanes = Math.max(lanes, cpu + 1);
  const counts = new Uint32Array(lanes + 1);
  for (let i = 0; i < samples.count; ++i) if (key[i] >= 0) ++counts[key[i]];
  const lists = Array.from({ length: lanes }, (_, lane) => new Uint32Array(counts[lane]));
  const next = new Uint32Array(lanes);
  for (let i = 0; i < samples.count; ++i) if (key[i] >= 0) lists[key[i]][next[key[i]]++] = i;
  const made = lists.map((list, lane) => by === "cpus"
    ? { label: `CPU ${lane}`, detail: "", samples: list, key: lane }
    : { label: profile.threads[lane].name || "?", detail: String(profile.threads[lane].tid), samples: list, key: lane });
  const slices = profile.sched ? slicesByLane(profile, by) : null;
  if (slices) for (const lane of made) (lane as Lane).slices = slices.get(lane.key) ?? new Uint32Array(0);
  if (profile.calls && by === "threads") {
    const calls = callRowsByThread(profile);
    for (const lane of made) (lane as Lane).calls = calls.get(lane.key);
  }
  const used = made.filter((lane) => lane.samples.length > 0 || (slices?.has(lane.key) ?? false));
  if (by === "cpus") return used;
  const ofProcess = new Map<number, number>();
  for (const lane of used) {
    const pid = profile.threads[lane.key].pid;
    ofProcess.set(pid, (ofProcess.get(pid) ?? 0) + lane.samples.length);
  }
  const order = (lane: Lane) => profile.threads[lane.key].pid;
  return used.sort((a, b) => ofProcess.get(order(b))! - ofProcess.get(order(a))! || order(a) - order(b) ||
                             b.samples.length - a.samples.length || a.key - b.key);
}

/// The full height of a lane: the 99th percentile of the non-empty bins, so that a single peak does
/// not flatten everything. Higher ones are cut off there.
function usualHeight(bins: Float64Array[]): number {
  const weights: number[] = [];
  for (const values of bins) for (const value of values) if (value > 0) weights.push(value);
  weights.sort((a, b) => a - b);
  return weights.length === 0 ? 1 : weights[Math.floor((weights.length - 1) * 0.99)];
}

function niceStep(span: number, count: number): number {
  const rough = span / Math.max(1, count);
  const base = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1e-3))));
  for (const factor of [1, 2, 5, 10]) if (base * factor >= rough) return base * factor;
  return base * 10;
}

/// Weights by bin of time.
interface Bins { all: Float64Array; kernel: Float64Array; marked: Float64Array; }

export class Timeline {
  readonly element: HTMLElement;
  private canvas = el("canvas");
  private spacer = el("div", { class: "spacer" });
  private content: TimelineContent | null = null;
  private view: [number, number] = [0, 1];  // visible µs
  private drag: { from: number; to: number; x: number } | null = null;
  private highest = 1;
  private tops: number[] = [];       // by lane, and below the last: CSS pixels below the axis
  private bandHigh = bandHeight;
  private lastTime = 1;              // µs

  constructor(private small: boolean, private actions: TimelineActions) {
    this.element = el("div", { class: small ? "strip" : "timeline", tabindex: small ? "-1" : "0" });
    this.spacer.append(this.canvas);
    this.element.append(this.spacer);
    this.element.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.canvas.addEventListener("pointerdown", (event) => this.onDown(event));
    this.canvas.addEventListener("mousemove", (event) => this.onHover(event));
    this.canvas.addEventListener("mouseleave", () => this.actions.leave());
    this.canvas.addEventListener("dblclick", () => this.zoomTo(null));
    if (!small) this.element.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    new ResizeObserver(() => this.redraw()).observe(this.element);
  }

  show(content: TimelineContent): void {
    const isFirst = this.content === null;
    this.content = content;
    if (isFirst) {
      this.lastTime = this.findLast();
      this.view = [0, this.last];
    }
    this.redraw();
  }
  /// Zooms to the given range; null: to everything.
  zoomTo(range: [number, number] | null): void {
    this.view = range && range[1] > range[0] ? range : [0, this.last];
    this.redraw();
  }

  private get last(): number { return this.lastTime; }
  private findLast(): number {
    const { samples, calls } = this.content!.profile;
    const last = samples && samples.count > 0 ? samples.time[samples.count - 1] : 0;
    return Math.max(this.shortest, last, calls ? lastOf(calls) : 0);
  }
  /// The shortest time that is shown, in µs. Calls have nanoseconds.
  private get shortest(): number { return this.content?.profile.calls ? 0.02 : 10; }
  /// Lanes with calls or stacks are higher; others share the room that a few of them would leave empty.
  private place(): void {
    const { lanes, profile, chart } = this.content!;
    const usual = profile.sched ? sampleHeight + 2 + bandHeight : sampleHeight;
    const room = this.element.clientHeight - axisHeight;
    const spare = profile.calls || chart ? 0 : Math.max(0, Math.floor(room / Math.max(1, lanes.length)) - usual);
    this.bandHigh = bandHeight + Math.min(highestBand - bandHeight, Math.floor(spare / 4));
    this.tops = [0];
    for (const lane of lanes) this.tops.push(this.tops[this.tops.length - 1] + usual + spare + this.rowsHigh(lane));
    const height = this.small ? "100%" : `${axisHeight + this.tops[lanes.length]}px`;
    if (this.spacer.style.height !== height) this.spacer.style.height = height;
    if (!this.small) this.element.dataset.tops = this.tops.join(" ");
  }
  /// Rows of calls or stacks.
  private rowsOf(lane: Lane): number {
    if (this.small) return 0;
    const { chart } = this.content!;
    return chart ? chart.rowsOf(lane.key, lane.samples) : lane.calls ? lane.calls.length : 0;
  }
  private rowsHigh(lane: Lane): number {
    const rows = this.rowsOf(lane);
    return rows > 0 ? rows * callRowHeight + callGap : 0;
  }
  private topOf(lane: number): number { return this.small ? 0 : this.tops[lane]; }
  private heightOf(lane: number): number {
    return this.small ? this.element.clientHeight - axisHeight : this.tops[lane + 1] - this.tops[lane];
  }
  /// The lane at that distance below the axis; the number of lanes if there is none.
  private laneFrom(y: number): number {
    const lanes = this.content!.lanes.length;
    if (this.small) return y < 0 ? lanes : 0;
    let low = 0, high = lanes;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  private get labelWidth(): number { return this.small ? 0 : Math.min(230, this.element.clientWidth * 0.28); }
  private get plotWidth(): number { return Math.max(1, this.element.clientWidth - this.labelWidth); }
  private xOf(time: number): number {
    return this.labelWidth + ((time - this.view[0]) / (this.view[1] - this.view[0])) * this.plotWidth;
  }
  private timeOf(x: number): number {
    const share = Math.min(1, Math.max(0, (x - this.labelWidth) / this.plotWidth));
    return this.view[0] + share * (this.view[1] - this.view[0]);
  }

  readonly redraw = oncePerFrame(() => this.draw());

  private draw(): void {
    const content = this.content;
    const width = this.element.clientWidth, height = this.element.clientHeight;
    if (!content || !content.profile.samples || width === 0 || height === 0) return;
    this.place();
    const context = fit(this.canvas, width, height);
    context.clearRect(0, 0, width, height);
    const top = this.small ? 0 : this.element.scrollTop;
    const lanes = content.lanes;
    const from = this.laneFrom(Math.max(0, top - axisHeight));
    const to = Math.min(lanes.length, this.laneFrom(top + height - axisHeight) + 1);
    const bins = lanes.slice(from, to).map((lane) => this.binsOf(lane));
    this.highest = usualHeight(bins.map((bin) => bin.all));
    for (let i = from; i < to; ++i)
      this.drawLane(context, lanes[i], bins[i - from], axisHeight + this.topOf(i) - top, i);
    this.drawAxis(context, width, height);
    this.drawCaption(context, width);
    this.drawRange(context, height);
  }

  private binsOf(lane: Lane): Bins {
    const { profile, columns, passes, kernel, marked } = this.content!;
    const samples = profile.samples!;
    const count = Math.ceil(this.plotWidth / binWidth);
    const [all, ofKernel, ofMarked] = [0, 1, 2].map(() => new Float64Array(count + 1));
    const scale = this.plotWidth / binWidth / (this.view[1] - this.view[0]);
    for (let i = lowerBound(lane.samples, samples.time, this.view[0]); i < lane.samples.length; ++i) {
      const sample = lane.samples[i];
      if (samples.time[sample] > this.view[1]) break;
      if (!columns.includes(samples.column[sample]) || (passes && !passes(sample))) continue;
      const bin = Math.floor((samples.time[sample] - this.view[0]) * scale);
      all[bin] += samples.value[sample];
      if (kernel[samples.node[sample]]) ofKernel[bin] += samples.value[sample];
      if (marked && marked.nodes[samples.node[sample]]) ofMarked[bin] += samples.value[sample];
    }
    return { all, kernel: ofKernel, marked: ofMarked };
  }

  private drawLane(context: CanvasRenderingContext2D, lane: Lane, bins: Bins, y: number, index: number): void {
    const { theme } = this.content!;
    const forBand = lane.slices ? this.bandHigh + 4 : 0;
    const height = this.heightOf(index);
    const forCalls = this.rowsHigh(lane);
    const room = height - 4 - forBand - forCalls;
    const bottom = y + height - 1 - forBand - forCalls;
    if (!this.small) {
      context.fillStyle = index % 2 === 0 ? theme.faint : theme.background;
      context.fillRect(0, y, this.element.clientWidth, height);
      context.fillStyle = theme.text;
      context.font = "12px system-ui, sans-serif";
      context.textBaseline = "middle";
      this.drawLabel(context, lane, y + (height - forCalls) / 2);
    }
    const colors = theme.dark ? ["hsl(32 55% 52%)", "hsl(208 50% 58%)"] : ["hsl(32 82% 60%)", "hsl(208 60% 58%)"];
    for (let x = 0; x < bins.all.length; ++x) {
      if (bins.all[x] === 0) continue;
      const high = Math.max(1.5, Math.min(1, bins.all[x] / this.highest) * room);
      const kernelHigh = high * (bins.kernel[x] / bins.all[x]);
      context.fillStyle = colors[0];
      context.fillRect(this.labelWidth + x * binWidth, bottom - high, binWidth, high - kernelHigh);
      context.fillStyle = colors[1];
      context.fillRect(this.labelWidth + x * binWidth, bottom - kernelHigh, binWidth, kernelHigh);
      if (bins.marked[x] === 0) continue;
      const markedHigh = high * (bins.marked[x] / bins.all[x]);
      context.fillStyle = theme.match;
      context.fillRect(this.labelWidth + x * binWidth, bottom - markedHigh, binWidth, markedHigh);
    }
    const { profile, by, chart } = this.content!;
    if (lane.slices && by !== "all")
      drawBand(context, profile, lane.key, lane.slices, by, this.view,
               { x: this.labelWidth, y: bottom + 2, width: this.plotWidth, height: this.bandHigh }, theme.dark);
    if (forCalls === 0) return;
    const box = { x: this.labelWidth, y: bottom + 2 + forBand, width: this.plotWidth, top: axisHeight, bottom: this.element.clientHeight };
    if (chart) chart.draw(context, lane.samples, this.rowsOf(lane), this.view, box,
                          { colors: this.content!.colors, marked: this.content!.marked, match: theme.match, onFrame: theme.onFrame });
    else drawCalls(context, profile, lane.calls!, this.view, box, this.content!.colors, theme.onFrame);
  }
  private drawLabel(context: CanvasRenderingContext2D, lane: Lane, y: number): void {
    const detail = lane.detail === "" ? 0 : context.measureText(lane.detail).width + 10;
    let label = lane.label.slice(0, 60);
    while (label.length > 1 && context.measureText(label).width > this.labelWidth - 20 - detail)
      label = label.slice(0, label.endsWith("…") ? -2 : -1) + "…";
    context.fillText(label, 10, y);
    if (detail === 0) return;
    context.globalAlpha = 0.6;
    context.textAlign = "right";
    context.fillText(lane.detail, this.labelWidth - 10, y);
    context.textAlign = "left";
    context.globalAlpha = 1;
  }

  private drawAxis(context: CanvasRenderingContext2D, width: number, height: number): void {
    const { theme } = this.content!;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, width, axisHeight);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const step = niceStep(this.view[1] - this.view[0], this.plotWidth / 110);
    const digits = Math.min(9, Math.max(0, Math.ceil(6 - Math.log10(step) - 1e-9)));
    for (let t = Math.ceil(this.view[0] / step) * step; t <= this.view[1]; t += step) {
      const x = this.xOf(t);
      context.fillStyle = theme.line;
      // Lines would cross the names of calls.
      if (this.content!.profile.calls || this.content!.chart) context.fillRect(x, axisHeight - 4, 1, 4);
      else context.fillRect(x, this.small ? axisHeight - 4 : axisHeight, 1, height);
      context.fillStyle = theme.text;
      const label = seconds(t, digits);
      if (x + 4 + context.measureText(label).width < width) context.fillText(label, x + 4, axisHeight / 2);
    }
  }

  /// Which function is marked, at the end of the axis.
  private drawCaption(context: CanvasRenderingContext2D, width: number): void {
    const { marked, theme } = this.content!;
    if (!marked) return;
    const text = shortName(marked.name, Math.floor(Math.min(480, this.plotWidth / 2) / 7)).slice(0, 100);
    const long = Math.min(this.plotWidth / 2 + 24, context.measureText(text).width + 24);
    context.fillStyle = theme.background;
    context.fillRect(width - long - 6, 0, long + 6, axisHeight);
    context.fillStyle = theme.match;
    context.fillRect(width - long, axisHeight / 2 - 5, 10, 10);
    context.fillStyle = theme.text;
    context.fillText(text, width - long + 15, axisHeight / 2, long - 20);
  }

  private drawRange(context: CanvasRenderingContext2D, height: number): void {
    const { theme, range } = this.content!;
    const shown = this.drag ? [this.drag.from, this.drag.to].sort((a, b) => a - b) : range;
    if (!shown) return;
    const from = Math.max(this.labelWidth, this.xOf(shown[0]));
    const to = Math.min(this.labelWidth + this.plotWidth, this.xOf(shown[1]));
    context.fillStyle = theme.dark ? "rgb(0 0 0 / 55%)" : "rgb(255 255 255 / 65%)";
    if (from > this.labelWidth) context.fillRect(this.labelWidth, axisHeight, from - this.labelWidth, height);
    if (to < this.labelWidth + this.plotWidth) context.fillRect(to, axisHeight, this.labelWidth + this.plotWidth - to, height);
    context.fillStyle = theme.accent;
    for (const x of [from, to]) context.fillRect(x - 1, 0, 2, height);
    context.fillRect(from, 0, to - from, 3);
  }

  private laneAt(event: MouseEvent): Lane | null {
    const y = event.offsetY + (this.small ? 0 : this.element.scrollTop);
    if (event.offsetY < axisHeight) return null;
    return this.content?.lanes[this.laneFrom(y - axisHeight)] ?? null;
  }
  private onDown(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary || !this.content) return;
    event.preventDefault();
    this.element.focus({ preventScroll: true });
    if (event.offsetX < this.labelWidth) {
      const lane = this.laneAt(event);
      if (lane) this.actions.chooseLane(lane);
      return;
    }
    const left = this.canvas.getBoundingClientRect().left;
    const at = this.timeOf(event.clientX - left);
    this.drag = { from: at, to: at, x: event.clientX };
    const move = (moved: PointerEvent) => {
      this.drag!.to = this.timeOf(moved.clientX - left);
      this.redraw();
    };
    const up = (ended: PointerEvent, isCancelled: boolean) => {
      const drag = this.drag!;
      this.drag = null;
      if (isCancelled || Math.abs(ended.clientX - drag.x) < 3) {
        if (!isCancelled) this.chooseFrameAt(event);
        return this.redraw();
      }
      const range = [drag.from, this.timeOf(ended.clientX - left)].sort((a, b) => a - b);
      const grain = this.content!.profile.calls ? 1e-3 : 1;  // µs
      this.actions.chooseRange([Math.round(range[0] / grain) * grain, Math.round(range[1] / grain) * grain]);
    };
    followPointer(move, up);
  }
  /// The row of calls or stacks under the pointer; -1: none.
  private rowAt(lane: Lane, event: MouseEvent): number {
    const rows = this.rowsOf(lane);
    const index = this.content!.lanes.indexOf(lane);
    const y = event.offsetY + (this.small ? 0 : this.element.scrollTop) - axisHeight - this.topOf(index) -
      (this.heightOf(index) - this.rowsHigh(lane));
    const row = Math.floor(y / callRowHeight);
    return row >= 0 && row < rows ? row : -1;
  }
  private chooseFrameAt(event: MouseEvent): void {
    const { chart } = this.content!;
    const lane = this.laneAt(event);
    const row = chart && lane ? this.rowAt(lane, event) : -1;
    if (row < 0 || !this.actions.chooseFrame) return;
    const frame = chart!.frameAt(lane!.samples, row, this.timeOf(event.offsetX), (this.view[1] - this.view[0]) / this.plotWidth);
    if (frame >= 0) this.actions.chooseFrame(frame);
  }
  private onHover(event: MouseEvent): void {
    if (!this.content) return;
    const lane = this.laneAt(event);
    const isLabel = event.offsetX < this.labelWidth;
    this.canvas.style.cursor = isLabel ? (lane ? "pointer" : "default") : "crosshair";
    if (isLabel) {
      if (lane) this.actions.hover([`${lane.label} ${lane.detail}`, "click: only this; click again: all"], event.clientX, event.clientY);
      else this.actions.leave();
      return;
    }
    const lines = [seconds(this.timeOf(event.offsetX), this.content.profile.calls ? 9 : 6)];
    if (lane && lane.key >= 0) lines.push(`${lane.label} ${lane.detail}`);
    const { profile, by, chart } = this.content;
    if (lane?.slices && by !== "all")
      lines.push(...describeSlice(profile, lane.key, lane.slices, by, this.timeOf(event.offsetX), (this.view[1] - this.view[0]) / this.plotWidth));
    const row = lane ? this.rowAt(lane, event) : -1;
    if (row >= 0) {
      const at = this.timeOf(event.offsetX), slack = (this.view[1] - this.view[0]) / this.plotWidth;
      lines.push(...(chart ? chart.describe(lane!.key, lane!.samples, row, at, slack) : describeCall(profile, lane!.calls!, row, at, slack)));
    }
    this.actions.hover(lines, event.clientX, event.clientY);
  }
  /// With Ctrl: zooms; with Shift, or sideways: pans.
  private onWheel(event: WheelEvent): void {
    const [from, to] = this.view;
    const along = event.shiftKey ? event.deltaY : event.deltaX;
    if (event.ctrlKey) {
      const at = this.timeOf(event.offsetX);
      const factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
      const span = Math.max(this.shortest, Math.min(this.last, (to - from) * factor));
      const start = Math.max(0, Math.min(this.last - span, at - ((at - from) / (to - from)) * span));
      this.view = [start, start + span];
    } else if (along !== 0) {
      const step = Math.max(-from, Math.min(this.last - to, (along / this.plotWidth) * (to - from)));
      this.view = [from + step, to + step];
    } else {
      return;
    }
    event.preventDefault();
    this.redraw();
  }
}
