// What threads did according to the scheduler's events: running, waiting for a CPU, sleeping. A
// band in each lane of the timeline, and the text of its tooltips.

import { hash } from "./colors.js";
import { Profile, Sched, Unknown } from "./data.js";
import { weight } from "./text.js";

export const stateNames = ["running", "waits for a CPU", "sleeps", "uninterruptible", "stopped"];
const enum State { running }

const lightColors = ["hsl(152 63% 37%)", "hsl(38 88% 56%)", "hsl(216 14% 71%)", "hsl(4 65% 56%)", "hsl(272 47% 62%)"];
const darkColors = ["hsl(148 52% 48%)", "hsl(38 75% 55%)", "hsl(216 10% 42%)", "hsl(4 62% 56%)", "hsl(272 42% 62%)"];
/// Waits are thinner than runs.
const shareOfHeight = [1, 1, 0.25, 0.6, 0.6];

export function stateColors(dark: boolean): string[] { return dark ? darkColors : lightColors; }

/// Slices of one lane, as indices into Sched's, in time order.
export type Slices = Uint32Array;

/// By lane: of threads, or of CPUs, whose slices are the runs of threads on them.
export function slicesByLane(profile: Profile, by: "threads" | "cpus"): Map<number, Slices> {
  const sched = profile.sched!;
  const lists = new Map<number, number[]>();
  for (let i = 0; i < sched.start.length; ++i) {
    if (by === "cpus" && (sched.state[i] !== State.running || sched.cpu[i] < 0)) continue;
    const lane = by === "cpus" ? sched.cpu[i] : sched.thread[i];
    const list = lists.get(lane);
    if (list) list.push(i);
    else lists.set(lane, [i]);
  }
  return new Map([...lists].map(([lane, list]) =>
    [lane, Uint32Array.from(by === "cpus" ? list.sort((a, b) => sched.start[a] - sched.start[b]) : list)]));
}

/// Index into `slices` of the first that ends after `time`.
function firstAfter(sched: Sched, slices: Slices, time: number): number {
  let low = 0, high = slices.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sched.end[slices[middle]] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Band { x: number; y: number; width: number; height: number; }  // CSS pixels

/// Where it is not known what a CPU did: what happened beyond the scheduler's events is not known either.
function unknownOf(sched: Sched, cpu: number): Unknown[] {
  const [start, end] = sched.span;
  return [{ cpu, start: -Infinity, end: start }, ...sched.unknown.filter((span) => span.cpu === cpu), { cpu, start: end, end: Infinity }];
}

/// Stripes where nothing is known of a CPU, which would look idle.
function drawUnknown(context: CanvasRenderingContext2D, sched: Sched, cpu: number, view: [number, number], band: Band, dark: boolean): void {
  const scale = band.width / (view[1] - view[0]), step = 4;
  context.fillStyle = dark ? "hsl(216 10% 52%)" : "hsl(216 14% 61%)";
  for (const span of unknownOf(sched, cpu)) {
    const from = Math.max(0, (span.start - view[0]) * scale), to = Math.min(band.width, (span.end - view[0]) * scale);
    for (let x = Math.ceil(from / step) * step; x < to; x += step) context.fillRect(band.x + x, band.y, 1, band.height);
  }
}

/// Draws the slices of a lane in `view` (µs); `key` is its thread or CPU. A slice that is narrower than a pixel counts for its share of
/// it; each pixel shows a kind with an intensity proportional to its share, but never too faint to
/// be seen.
export function drawBand(context: CanvasRenderingContext2D, profile: Profile, key: number, slices: Slices, by: "threads" | "cpus",
                         view: [number, number], band: Band, dark: boolean): void {
  const sched = profile.sched!;
  if (by === "cpus") drawUnknown(context, sched, key, view, band, dark);
  const scale = band.width / (view[1] - view[0]);
  const narrow = new Map<string, Float32Array>();  // by colour and height: shares of pixels
  const styleOf = (slice: number) => by === "cpus" ? `${processColor(profile, sched.thread[slice], dark)}|1`
    : `${stateColors(dark)[sched.state[slice]]}|${shareOfHeight[sched.state[slice]]}`;
  const put = (style: string, x: number, width: number, strength: number) => {
    const [color, share] = style.split("|");
    const high = Math.max(2, Math.round(band.height * Number(share)));
    context.globalAlpha = strength;
    context.fillStyle = color;
    context.fillRect(band.x + x, band.y + (band.height - high) / 2, width, high);
  };
  for (let i = firstAfter(sched, slices, view[0]); i < slices.length; ++i) {
    const slice = slices[i];
    if (sched.start[slice] > view[1]) break;
    const from = Math.max(0, (sched.start[slice] - view[0]) * scale);
    const to = Math.min(band.width, (sched.end[slice] - view[0]) * scale);
    const style = styleOf(slice);
    if (to - from >= 1) {
      put(style, from, to - from, 1);
      continue;
    }
    let shares = narrow.get(style);
    if (!shares) narrow.set(style, shares = new Float32Array(Math.ceil(band.width) + 1));
    shares[Math.floor(from)] += Math.max(to - from, 1e-6);
  }
  for (const [style, shares] of narrow)
    for (let x = 0; x < shares.length; ++x)
      if (shares[x] > 0) put(style, x, 1, Math.min(1, Math.max(0.25, shares[x])));
  context.globalAlpha = 1;
}

function processColor(profile: Profile, thread: number, dark: boolean): string {
  const { pid, process, name } = profile.threads[thread];
  const hue = 360 * hash(`${process || name} ${pid}`);
  return dark ? `hsl(${hue.toFixed(0)} 42% 52%)` : `hsl(${hue.toFixed(0)} 55% 58%)`;
}

function threadName(profile: Profile, thread: number): string {
  return `${profile.threads[thread].name || "?"} ${profile.threads[thread].tid}`;
}

/// Why a lane shows nothing at that time.
function describeBlank(sched: Sched, key: number, slices: Slices, by: "threads" | "cpus", time: number): string[] {
  const isIn = (span: Unknown) => time >= span.start && time <= span.end;
  if (by === "cpus") {
    if (slices.length === 0) return ["not known: nothing was recorded of it"];
    return unknownOf(sched, key).some(isIn) ? ["not known: events are missing here"] : ["idle"];
  }
  const ended = sched.ended.get(key);
  if (ended !== undefined && time >= ended) return ["had ended"];
  const isFirst = slices.length === 0 || time < sched.start[slices[0]];
  const isLast = !isFirst && time > sched.end[slices[slices.length - 1]];
  const reason = sched.partial || (sched.unknown.some(isIn) ? "events are missing here"
    : isFirst ? "nothing was recorded of it before" : isLast ? "nothing was recorded of it any more"
      : "events of it are missing");
  return [`not known: ${reason}`];
}

/// The state at `time`, or the nearest within `slack` (µs), or why it is not known. `key`: the thread or CPU.
export function describeSlice(profile: Profile, key: number, slices: Slices, by: "threads" | "cpus", time: number, slack: number): string[] {
  const sched = profile.sched!;
  const at = firstAfter(sched, slices, time);
  const distance = (i: number) =>
    i < 0 || i >= slices.length ? Infinity : Math.max(0, sched.start[slices[i]] - time, time - sched.end[slices[i]]);
  const nearest = distance(at - 1) < distance(at) ? at - 1 : at;
  if (by === "threads" && profile.threads[key].tid === 0) return [];  // the idle tasks of all CPUs
  if (distance(nearest) > slack) return describeBlank(sched, key, slices, by, time);
  const slice = slices[nearest];
  const length = weight(Math.round((sched.end[slice] - sched.start[slice]) * 1000), "nanoseconds");
  if (by === "cpus") return [`${threadName(profile, sched.thread[slice])} for ${length}`];
  const on = sched.cpu[slice] < 0 ? "" : sched.state[slice] === State.running ? ` on CPU ${sched.cpu[slice]}` : "";
  const lines = [`${stateNames[sched.state[slice]]}${on} for ${length}`];
  if (sched.waker[slice] >= 0) lines.push(`woken by ${threadName(profile, sched.waker[slice])}`);
  return lines;
}
