// What ran when, as far as samples tell: below the samples of a thread's lane, its stacks over time,
// a row for each depth. Neighbouring samples with the same callers are one box.
//
// A sample stands for the time before it: as long as it weighs, if its weight is time, else as the
// usual distance between samples, but not beyond the sample before it. Between boxes nothing is known.

import { callRowHeight, CallsBox, drawName } from "./calls.js";
import { EventInfo, Kind, Profile } from "./data.js";
import { Marked } from "./model.js";
import { fileName, seconds, weight } from "./text.js";

const mostCallers = 12;  // in tooltips
/// Timers are late now and then: a gap of less than this share of a sample's time is none. Waits are exact.
const tolerance = 0.5;
const waitEvent = /^off-?cpu/;

/// First index of `list` whose sample is not before `time` (µs).
export function lowerBound(list: Uint32Array, times: Float64Array, time: number): number {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[list[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// Numbers of nodes' callers below the process, which the lane's name has already.
function depthsOf({ tree, frameKind }: Profile): Int32Array {
  const depth = new Int32Array(tree.frame.length).fill(-1);
  for (let node = 1; node < depth.length; ++node)
    if (frameKind[tree.frame[node]] !== Kind.task) depth[node] = depth[tree.parent[node]] + 1;
  return depth;
}

/// The lower quartile of the times between samples of a thread: most threads pause, too.
function usualGap(profile: Profile, columns: number[]): number {
  const { count, time, thread, column } = profile.samples!;
  const last = new Float64Array(profile.threads.length).fill(-1);
  const gaps: number[] = [];
  for (let i = 0; i < count; ++i) {
    if (!columns.includes(column[i])) continue;
    if (last[thread[i]] >= 0) gaps.push(time[i] - last[thread[i]]);
    last[thread[i]] = time[i];
  }
  const sorted = Float64Array.from(gaps).sort();
  return sorted.length === 0 ? 1 : Math.max(1, sorted[sorted.length >> 2]);
}

export interface ChartStyle { colors: string[]; marked: Marked | null; match: string; onFrame: string; }

/// A sample of a lane, in the order of time, with the time that it stands for.
interface Span { node: number; begin: number; end: number; isNext: boolean; }

export class StackChart {
  private depth: Int32Array;
  private gap: number;
  private tolerance: number;
  private rows = new Map<number, number>();  // by lane's key

  /// `passes`: which samples are shown; null: all.
  constructor(private profile: Profile, private event: EventInfo, private passes: ((sample: number) => boolean) | null) {
    this.depth = depthsOf(profile);
    this.gap = usualGap(profile, event.columns);
    this.tolerance = waitEvent.test(event.name) ? 0 : tolerance;
  }

  /// How many rows the stacks of a lane need, but for the deepest hundredth: a single one would put the other lanes out of sight.
  rowsOf(key: number, samples: Uint32Array): number {
    let rows = this.rows.get(key);
    if (rows === undefined) {
      const depths = samples.filter((sample) => this.isShown(sample)).map((sample) => this.depth[this.nodeOf(sample)] + 1).sort();
      rows = depths.length === 0 ? 0 : depths[Math.floor((depths.length - 1) * 0.99)];
      this.rows.set(key, rows);
    }
    return rows;
  }
  private isShown(sample: number): boolean {
    return this.event.columns.includes(this.profile.samples!.column[sample]) && (!this.passes || this.passes(sample));
  }
  private nodeOf(sample: number): number { return this.profile.samples!.node[sample]; }
  /// µs
  private lengthOf(sample: number): number {
    return this.event.unit === "nanoseconds" ? this.profile.samples!.value[sample] / 1000 : this.gap;
  }

  /// The samples of a lane from the first that may end after `from`, to the first that begins after `to` (µs).
  private *spans(samples: Uint32Array, from: number, to: number): Generator<Span> {
    const { time } = this.profile.samples!;
    let at = lowerBound(samples, time, from), previous = -Infinity;
    for (let before = at - 1; before >= 0; --before)
      if (this.isShown(samples[before])) { previous = time[samples[before]]; break; }
    for (; at < samples.length; ++at) {
      const sample = samples[at];
      if (!this.isShown(sample)) continue;
      const length = this.lengthOf(sample), end = time[sample];
      const isNext = end - length - previous <= this.tolerance * length;
      const begin = Math.max(0, isNext ? previous : end - length);
      if (begin > to) return;
      yield { node: this.nodeOf(sample), begin, end, isNext };
      previous = end;
    }
  }

  /// Draws the stacks in `view` (µs), those rows that are between top and bottom. Boxes narrower than a pixel are drawn once for
  /// each pixel.
  draw(context: CanvasRenderingContext2D, samples: Uint32Array, rows: number, view: [number, number], box: CallsBox, style: ChartStyle): void {
    const { tree, frameName } = this.profile;
    const scale = box.width / (view[1] - view[0]);
    const path = new Int32Array(rows).fill(-1), since = new Float64Array(rows), drawnTo = new Float64Array(rows).fill(-1);
    let high = 0, last = 0;  // open boxes, and until when
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const close = (depth: number, end: number) => {
      const node = path[depth], frame = tree.frame[node], y = box.y + depth * callRowHeight;
      const from = Math.max(0, (since[depth] - view[0]) * scale), to = Math.min(box.width, (end - view[0]) * scale);
      if (to <= drawnTo[depth] || y + callRowHeight < box.top || y > box.bottom) return;
      const width = Math.max(1, to - from - (to - from > 3 ? 0.5 : 0));
      context.fillStyle = style.marked && style.marked.nodes[node] ? style.match : style.colors[frame];
      context.fillRect(box.x + from, y, width, callRowHeight - 1);
      drawnTo[depth] = Math.floor(from + width);
      if (width >= 30) drawName(context, frameName[frame], box.x + from, y, width, style.onFrame);
    };
    const shrink = (to: number, end: number) => { while (high > to) close(--high, end); };
    for (const { node, begin, end, isNext } of this.spans(samples, view[0], view[1])) {
      if (!isNext) shrink(0, last);
      const deepest = Math.min(this.depth[node], rows - 1);
      let same = deepest;  // the lowest caller that is open already
      const top = this.atDepth(node, deepest);
      let at = top;
      while (same >= 0 && (same >= high || path[same] !== at)) { at = tree.parent[at]; --same; }
      shrink(same + 1, begin);
      at = top;
      for (let depth = deepest; depth > same; --depth) {
        path[depth] = at;
        since[depth] = begin;
        at = tree.parent[at];
      }
      high = deepest + 1;
      last = end;
    }
    shrink(0, last);
  }

  /// What has a box in this row at `time`, or the nearest within `slack` (µs).
  private spanAt(samples: Uint32Array, row: number, time: number, slack: number): Span | null {
    let best: Span | null = null, distance = Infinity;
    for (const span of this.spans(samples, time - slack, time + slack)) {
      const away = Math.max(0, span.begin - time, time - span.end);
      if (away > slack || away >= distance || this.depth[span.node] < row) continue;
      best = span;
      distance = away;
    }
    return best;
  }
  private atDepth(node: number, depth: number): number {
    while (this.depth[node] > Math.max(depth, -1)) node = this.profile.tree.parent[node];
    return this.depth[node] === depth ? node : -1;
  }
  /// The frame there; -1: none.
  frameAt(samples: Uint32Array, row: number, time: number, slack: number): number {
    const span = this.spanAt(samples, row, time, slack);
    return span ? this.profile.tree.frame[this.atDepth(span.node, row)] : -1;
  }

  /// The box there, how long it is, and its callers.
  describe(key: number, samples: Uint32Array, row: number, time: number, slack: number): string[] {
    const span = this.spanAt(samples, row, time, slack);
    if (!span) return [];
    const { tree, frameName, frameObject } = this.profile;
    const node = this.atDepth(span.node, row);
    const box = this.boxAround(samples, node, row, span);
    const object = frameObject[tree.frame[node]];
    const lines = [frameName[tree.frame[node]],
                   `${weight(Math.round((box.end - box.begin) * 1000), "nanoseconds")} in ${box.count === 1 ? "1 sample" : `${box.count} samples`}, ` +
                   `from ${seconds(box.begin, 6)}${object === "" ? "" : `, ${fileName(object)}`}`];
    let caller = tree.parent[node];
    for (let i = 0; i < mostCallers && this.depth[caller] >= 0; ++i, caller = tree.parent[caller])
      lines.push(`${i === 0 ? "called by " : "   "}${frameName[tree.frame[caller]]}`);
    if (this.depth[caller] >= 0) lines.push(`   … ${this.depth[caller] + 1} more`);
    const isLast = row + 1 === this.rowsOf(key, samples);
    if (isLast && this.depth[span.node] > row) lines.push(`calls ${frameName[tree.frame[this.atDepth(span.node, row + 1)]]} …, too deep to be drawn`);
    return lines;
  }
  /// From the first to the last of the neighbouring samples that have this node.
  private boxAround(samples: Uint32Array, node: number, row: number, within: Span): { begin: number; end: number; count: number } {
    const { time } = this.profile.samples!;
    let { begin, end } = within, count = 1;
    for (const span of this.spans(samples, end, Infinity)) {
      if (span.end === end) continue;
      if (!span.isNext || this.atDepth(span.node, row) !== node) break;
      end = span.end;
      ++count;
    }
    let isNext = within.isNext;
    for (let at = lowerBound(samples, time, within.end) - 1; at >= 0 && isNext; --at) {
      if (!this.isShown(samples[at])) continue;
      if (this.atDepth(this.nodeOf(samples[at]), row) !== node) break;
      const [first] = this.spans(samples, time[samples[at]], Infinity);
      begin = first.begin;
      isNext = first.isNext;
      ++count;
    }
    return { begin, end, count };
  }
}
