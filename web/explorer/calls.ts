// The calls of a thread, from an instruction trace: a row for each depth, below the samples of its
// lane in the timeline, and the text of their tooltips.

import { Calls, Profile } from "./data.js";
import { shortName } from "./names.js";
import { fileName, weight } from "./text.js";

/// By depth: indices into Calls, which follow each other in time.
export type CallRows = Uint32Array[];

export const callRowHeight = 15;

export function callRowsByThread(profile: Profile): Map<number, CallRows> {
  const calls = profile.calls!;
  const lists = new Map<number, number[][]>();
  for (let i = 0; i < calls.start.length; ++i) {
    let rows = lists.get(calls.thread[i]);
    if (!rows) lists.set(calls.thread[i], rows = []);
    while (rows.length <= calls.depth[i]) rows.push([]);
    rows[calls.depth[i]].push(i);
  }
  return new Map([...lists].map(([thread, rows]) => [thread, rows.map((row) => Uint32Array.from(row))]));
}

export function lastOf(calls: Calls): number {
  return calls.end.reduce((last, end) => Math.max(last, end), 0);
}

/// Index into `row` of the first call that ends after `time`.
function firstAfter(calls: Calls, row: Uint32Array, time: number): number {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (calls.end[row[middle]] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface CallsBox { x: number; y: number; width: number; top: number; bottom: number; }  // CSS pixels

/// Draws the calls in `view` (µs), those rows that are between top and bottom. Calls narrower than
/// a pixel are drawn once for each pixel.
export function drawCalls(context: CanvasRenderingContext2D, profile: Profile, rows: CallRows, view: [number, number],
                          box: CallsBox, colors: string[], onFrame: string): void {
  const calls = profile.calls!;
  const scale = box.width / (view[1] - view[0]);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  rows.forEach((row, depth) => {
    const y = box.y + depth * callRowHeight;
    if (y + callRowHeight < box.top || y > box.bottom) return;
    let drawnTo = -1;
    for (let i = firstAfter(calls, row, view[0]); i < row.length && calls.start[row[i]] <= view[1]; ++i) {
      const call = row[i], frame = calls.frame[call];
      const from = Math.max(0, (calls.start[call] - view[0]) * scale);
      const to = Math.min(box.width, (calls.end[call] - view[0]) * scale);
      if (to <= drawnTo) continue;
      const width = Math.max(1, to - from - (to - from > 3 ? 0.5 : 0));
      context.fillStyle = colors[frame];
      context.fillRect(box.x + from, y, width, callRowHeight - 1);
      drawnTo = Math.floor(from + width);
      if (width >= 30) drawName(context, profile.frameName[frame], box.x + from, y, width, onFrame);
    }
  });
}

export function drawName(context: CanvasRenderingContext2D, name: string, x: number, y: number, width: number, color: string): void {
  const fits = Math.floor((width - 8) / 6);
  const text = fits < 3 && name.length > fits ? "" : shortName(name, fits);
  context.fillStyle = color;
  context.fillText(text, x + 4, y + callRowHeight / 2, width - 6);
}

/// The call of a depth at `time`, or the nearest within `slack` (µs), and the functions around it.
export function describeCall(profile: Profile, rows: CallRows, depth: number, time: number, slack: number): string[] {
  const calls = profile.calls!;
  const nearest = callNear(calls, rows[depth], time, slack);
  if (nearest < 0) return [];
  const frame = calls.frame[nearest];
  const length = weight(Math.round((calls.end[nearest] - calls.start[nearest]) * 1000), "nanoseconds");
  const lines = [profile.frameName[frame],
                 `${length}${calls.cut[nearest] ? ", entered or left unseen" : ""}, ${fileName(profile.frameObject[frame])}`];
  const middle = (calls.start[nearest] + calls.end[nearest]) / 2, most = 12;
  for (let row = depth - 1; row >= Math.max(0, depth - most); --row) {
    const around = callNear(calls, rows[row], middle, 0);
    if (around >= 0) lines.push(`${row === depth - 1 ? "called by " : "   "}${profile.frameName[calls.frame[around]]}`);
  }
  if (depth > most) lines.push(`   … ${depth - most} more`);
  return lines;
}

function callNear(calls: Calls, row: Uint32Array, time: number, slack: number): number {
  const at = firstAfter(calls, row, time);
  const distance = (i: number) =>
    i < 0 || i >= row.length ? Infinity : Math.max(0, calls.start[row[i]] - time, time - calls.end[row[i]]);
  const nearest = distance(at - 1) < distance(at) ? at - 1 : at;
  return distance(nearest) <= slack ? row[nearest] : -1;
}
