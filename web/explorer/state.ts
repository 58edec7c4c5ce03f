// What the page shows, as encoded in the URL after '#': it can be saved, sent and navigated back
// to.

import { ColorBy } from "./colors.js";
import { Filter, parse, spell } from "./filters.js";

export const views = ["flame", "icicle", "chart", "sandwich", "table", "timeline", "heatmap", "code"] as const;
export type View = (typeof views)[number];

export interface State {
  view: View;
  event: number;
  zoom: number;        // node of the flame graph and icicle; 0: everything
  focus: number;       // frame that the sandwich is about; -1: none yet
  search: string;
  filters: Filter[];
  colors: ColorBy;
  theme: "auto" | "light" | "dark";
  sort: string;        // column of the table, "-" before it: reversed
  lanes: "threads" | "cpus";
  stretch: number;     // µs per column of the heat map; 0: the default
  code: "code" | "source";  // what the code view shows
  intervals: boolean;  // shares with their 95 % intervals
  before: boolean;     // for two profiles: widths are those of the first
}

export const initial: State = {
  view: "flame", event: 0, zoom: 0, focus: -1, search: "", filters: [], colors: "kind", theme: "auto", sort: "self",
  lanes: "threads", stretch: 0, code: "code", intervals: false, before: false,
};

/// `usual`: the event that the page opens with.
export function toHash(state: State, usual: number): string {
  const words = new URLSearchParams();
  words.set("view", state.view);
  if (state.event !== usual) words.set("event", String(state.event));
  if (state.zoom !== 0) words.set("zoom", String(state.zoom));
  if (state.focus >= 0) words.set("focus", String(state.focus));
  if (state.search !== "") words.set("search", state.search);
  for (const filter of state.filters) words.append("filter", spell(filter));
  if (state.colors !== initial.colors) words.set("colors", state.colors);
  if (state.theme !== initial.theme) words.set("theme", state.theme);
  if (state.sort !== initial.sort) words.set("sort", state.sort);
  if (state.lanes !== initial.lanes) words.set("lanes", state.lanes);
  if (state.stretch !== 0) words.set("stretch", String(state.stretch));
  if (state.code !== initial.code) words.set("code", state.code);
  if (state.intervals) words.set("intervals", "1");
  if (state.before) words.set("before", "1");
  return "#" + words.toString();
}

function oneOf<T extends string>(word: string | null, choices: readonly T[], otherwise: T): T {
  return choices.find((choice) => choice === word) ?? otherwise;
}

/// Invalid words are ignored: URLs are typed by people, too.
export function fromHash(hash: string, limits: { events: number; usualEvent: number; nodes: number; frames: number }): State {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name: string, end: number, otherwise: number) => {
    const word = words.get(name) ?? "";
    return /^\d+$/.test(word) && Number(word) < end ? Number(word) : otherwise;
  };
  return {
    view: oneOf(words.get("view"), views, initial.view),
    event: number("event", limits.events, limits.usualEvent),
    zoom: number("zoom", limits.nodes, 0),
    focus: number("focus", limits.frames, -1),
    search: words.get("search") ?? "",
    filters: words.getAll("filter").map(parse).filter((filter): filter is Filter => filter !== null),
    colors: oneOf(words.get("colors"), ["kind", "object", "function"] as const, initial.colors),
    theme: oneOf(words.get("theme"), ["auto", "light", "dark"] as const, initial.theme),
    sort: words.get("sort") ?? initial.sort,
    lanes: oneOf(words.get("lanes"), ["threads", "cpus"] as const, initial.lanes),
    stretch: number("stretch", 1e9, 0),
    code: oneOf(words.get("code"), ["code", "source"] as const, initial.code),
    intervals: words.get("intervals") === "1",
    before: words.get("before") === "1",
  };
}
