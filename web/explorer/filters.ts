// Filters narrow down what every view shows. They have a spelling for the URL, and a description
// for people.

import { kindNames, Profile } from "./data.js";
import { regexFrom } from "./text.js";

export type Filter =
  | { by: "time"; from: number; to: number }                   // µs since the first sample
  | { by: "thread"; id: number; without: boolean }             // tid
  | { by: "process"; id: number; without: boolean }            // pid
  | { by: "function"; text: string; without: boolean }         // pattern
  | { by: "object"; text: string; without: boolean }
  | { by: "kind"; text: string; without: boolean };

export type FilterBy = Filter["by"];

export function spell(filter: Filter): string {
  if (filter.by === "time") return `time:${filter.from.toFixed(0)}-${filter.to.toFixed(0)}`;
  const sign = filter.without ? "-" : "";
  return `${sign}${filter.by}:${filter.by === "thread" || filter.by === "process" ? filter.id : filter.text}`;
}

export function parse(text: string): Filter | null {
  const match = /^(-?)(time|thread|process|function|object|kind):([^]*)$/.exec(text);
  if (!match) return null;
  const by = match[2] as FilterBy;
  const without = match[1] === "-";
  const value = match[3];
  if (by === "time") {
    const range = /^(\d+)-(\d+)$/.exec(value);
    return range ? { by, from: Number(range[1]), to: Number(range[2]) } : null;
  }
  if (by === "thread" || by === "process") return /^\d+$/.test(value) ? { by, id: Number(value), without } : null;
  return value === "" ? null : { by, text: value, without };
}

/// The names that a thread or process had, in their order in time.
export function namesOf(profile: Profile, by: "thread" | "process", id: number): string {
  const names = profile.threads
    .filter((t) => (by === "thread" ? t.tid : t.pid) === id)
    .map((t) => by === "thread" ? t.name : t.process);
  return [...new Set(names.filter((name) => name !== ""))].join(" → ");
}

export function describe(profile: Profile, filter: Filter): string {
  if (filter.by === "time") return `${(filter.from / 1e6).toFixed(3)} s – ${(filter.to / 1e6).toFixed(3)} s`;
  const what = filter.without ? "without" : "only";
  if (filter.by === "thread" || filter.by === "process")
    return `${what} ${filter.by} ${namesOf(profile, filter.by, filter.id)} ${filter.id}`.replace("  ", " ");
  return `${what} ${filter.by} ${filter.by === "function" ? `/${filter.text}/` : filter.text}`;
}

/// By thread: whether it passes; null if no filter names threads or processes.
export function threadMask(profile: Profile, filters: Filter[]): Uint8Array | null {
  let mask: Uint8Array | null = null;
  for (const filter of filters) {
    if (filter.by !== "thread" && filter.by !== "process") continue;
    mask = mask ?? new Uint8Array(profile.threads.length).fill(1);
    for (let i = 0; i < mask.length; ++i) {
      const id = filter.by === "thread" ? profile.threads[i].tid : profile.threads[i].pid;
      if ((id === filter.id) === filter.without) mask[i] = 0;
    }
  }
  return mask;
}

export function timeRange(filters: Filter[]): [number, number] | null {
  let range: [number, number] | null = null;
  for (const filter of filters)
    if (filter.by === "time")
      range = range ? [Math.max(range[0], filter.from), Math.min(range[1], filter.to)] : [filter.from, filter.to];
  return range;
}

/// By frame: whether a frame filter matches it.
function framesOf(profile: Profile, filter: { by: "function" | "object" | "kind"; text: string }): Uint8Array {
  const mask = new Uint8Array(profile.frameName.length);
  if (filter.by === "kind") {
    const kind = kindNames.indexOf(filter.text);
    for (let i = 0; i < mask.length; ++i) mask[i] = profile.frameKind[i] === kind ? 1 : 0;
  } else if (filter.by === "object") {
    for (let i = 0; i < mask.length; ++i) mask[i] = profile.frameObject[i] === filter.text ? 1 : 0;
  } else {
    const regex = regexFrom(filter.text);
    for (let i = 0; i < mask.length; ++i) mask[i] = regex && regex.test(profile.frameName[i]) ? 1 : 0;
  }
  return mask;
}

/// By node: whether the stack that ends there passes all frame filters; null if there are none.
export function stackMask(profile: Profile, filters: Filter[]): Uint8Array | null {
  const { frame, parent } = profile.tree;
  let mask: Uint8Array | null = null;
  for (const filter of filters) {
    if (filter.by !== "function" && filter.by !== "object" && filter.by !== "kind") continue;
    const named = framesOf(profile, filter);
    const passes = new Uint8Array(frame.length);
    for (let i = 1; i < frame.length; ++i) passes[i] = passes[parent[i]] | named[frame[i]];
    mask = mask ?? new Uint8Array(frame.length).fill(1);
    for (let i = 0; i < frame.length; ++i) if ((passes[i] === 1) === filter.without) mask[i] = 0;
  }
  return mask;
}
