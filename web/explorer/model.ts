// What the views currently show: the profile under the state's filters and search. Every part is
// computed on first use, and again only if the state that it depends on has changed.

import { StackChart } from "./chart.js";
import { changeColor, frameColors, Theme } from "./colors.js";
import { EventInfo, Profile } from "./data.js";
import { spell } from "./filters.js";
import { FunctionSums, sumsByFunction } from "./functions.js";
import { intervalText } from "./interval.js";
import { hottestListing, weighPlaces } from "./places.js";
import { State } from "./state.js";
import { fileName, percent, regexFrom, weight } from "./text.js";
import { passesAll, Weights, weigh } from "./weights.js";

/// Caches the last value, keyed by its inputs.
class Memory<T> {
  private key: string | null = null;
  private value: T | null = null;
  get(key: string, make: () => T): T {
    if (this.key !== key) {
      this.value = make();
      this.key = key;
    }
    return this.value!;
  }
}

export interface Search {
  frames: Uint8Array;      // by frame: whether its name matches
  share: number;           // of the weight shown
  text: string;            // for people
}

export interface Marked { nodes: Uint8Array; name: string; }

export class Model {
  state: State;
  theme: Theme;
  private weightsMemory = new Memory<Weights[]>();
  private sumsMemory = new Memory<FunctionSums[]>();
  private searchMemory = new Memory<Search | null>();
  private markedMemory = new Memory<Marked | null>();
  private colorMemory = new Memory<string[]>();
  private chartMemory = new Memory<StackChart>();

  constructor(readonly profile: Profile, state: State, theme: Theme) {
    this.state = state;
    this.theme = theme;
  }

  get event(): EventInfo { return this.profile.events[this.state.event]; }
  get isCompared(): boolean { return this.profile.compared.length > 0; }
  private get selection(): string { return `${this.state.event} ${this.state.filters.map(spell).join("\n")}`; }

  /// One; or before and after.
  get weights(): Weights[] {
    return this.weightsMemory.get(this.selection, () =>
      this.event.columns.map((_, which) => weigh(this.profile, this.event, which, this.state.filters)));
  }
  get sums(): FunctionSums[] {
    return this.sumsMemory.get(this.selection, () => this.weights.map((weights) =>
      sumsByFunction(this.profile.tree, weights.self, weights.total, this.profile.frameName.length)));
  }
  /// The function with the most weight of its own; -1: there is none.
  get hottest(): number {
    const { self } = this.sums[this.which];
    let best = -1;
    for (let frame = 0; frame < self.length; ++frame)
      if (self[frame] > 0 && (best < 0 || self[frame] > self[best])) best = frame;
    return best;
  }
  /// By node: whether it is of the function (or the box) that the view is about, or that the search found.
  get marked(): Marked | null {
    const { state } = this;
    return this.markedMemory.get(`${this.selection} ${state.view} ${state.zoom} ${state.focus} ${state.search}`, () => {
      const { frame, end } = this.profile.tree;
      const isPicture = state.view === "flame" || state.view === "icicle";
      if (state.zoom > 0 && (isPicture || state.focus < 0) && state.view !== "sandwich" && state.view !== "code") {
        const nodes = new Uint8Array(frame.length).fill(1, state.zoom, end[state.zoom]);
        return { nodes, name: this.nameOf(frame[state.zoom]) };
      }
      const focus = isPicture ? -1 : this.focus;
      if (focus >= 0) return { nodes: this.below((f) => f === focus), name: this.nameOf(focus) };
      const { search } = this;
      return search ? { nodes: this.below((f) => search.frames[f] === 1), name: state.search } : null;
    });
  }
  /// The function that the view is about; -1: none.
  get focus(): number {
    const { focus, view, filters } = this.state;
    if (view === "code" && !this.profile.listings.some((listing) => listing.frame === focus))
      return hottestListing(this.profile.listings, weighPlaces(this.profile, this.event, filters)).frame;
    return focus < 0 && view === "sandwich" ? this.hottest : focus;
  }
  private below(is: (frame: number) => boolean): Uint8Array {
    const { frame, parent } = this.profile.tree;
    const nodes = new Uint8Array(frame.length);
    for (let node = 1; node < nodes.length; ++node) nodes[node] = nodes[parent[node]] === 1 || is(frame[node]) ? 1 : 0;
    return nodes;
  }
  /// The one of the two that determines widths.
  get which(): number { return this.isCompared && !this.state.before ? 1 : 0; }
  get shown(): Weights { return this.weights[this.which]; }

  get search(): Search | null {
    return this.searchMemory.get(`${this.selection} ${this.which} ${this.state.search}`, () => this.find());
  }
  private find(): Search | null {
    if (this.state.search === "") return null;
    const regex = regexFrom(this.state.search);
    const frames = new Uint8Array(this.profile.frameName.length);
    if (!regex) return { frames, share: 0, text: "not a pattern" };
    this.profile.frameName.forEach((name, i) => { frames[i] = regex.test(name) ? 1 : 0; });
    const { tree } = this.profile;
    const { total } = this.shown;
    let matched = 0;
    for (let node = 1; node < tree.frame.length;) {
      if (frames[tree.frame[node]] === 1) {
        matched += total[node];
        node = tree.end[node];
      } else {
        ++node;
      }
    }
    return { frames, share: matched / total[0], text: `${percent(matched, total[0])} matched` };
  }

  /// What ran when: under all filters but those of time and thread, which choose what of it is seen.
  get chart(): StackChart {
    const filters = this.state.filters.filter(({ by }) => by !== "time" && by !== "thread");
    return this.chartMemory.get(`${this.state.event} ${filters.map(spell).join("\n")}`, () =>
      new StackChart(this.profile, this.event, passesAll(this.profile, filters)));
  }

  get frameColors(): string[] {
    return this.colorMemory.get(`${this.state.colors} ${this.theme.dark}`, () =>
      frameColors(this.profile, this.state.colors, this.theme.dark));
  }

  nameOf(frame: number): string { return frame < 0 ? "all" : this.profile.frameName[frame]; }

  /// The colour of a node with this frame, and with these weights if profiles are compared.
  color(frame: number, totals: number[]): string {
    if (this.isCompared) return changeColor(this.change(totals), this.theme.dark);
    return frame < 0 ? (this.theme.dark ? "hsl(220 6% 36%)" : "hsl(220 10% 86%)") : this.frameColors[frame];
  }
  /// The change of its share of the total: −1 if it is gone, 1 if it is new.
  change(totals: number[]): number {
    const shares = totals.map((value, i) => this.weights[i].total[0] === 0 ? 0 : value / this.weights[i].total[0]);
    const larger = Math.max(shares[0], shares[1]);
    return larger === 0 ? 0 : (shares[1] - shares[0]) / larger;
  }

  /// For the tooltip of a frame with these weights.
  describe(frame: number, totals: number[], selfs: number[]): string[] {
    const { profile, event } = this;
    const lines = [this.nameOf(frame).slice(0, 1500)];
    if (frame >= 0) {
      if (profile.frameObject[frame] !== "") lines.push(profile.frameObject[frame]);
      if (profile.frameFile[frame] !== "")
        lines.push(fileName(profile.frameFile[frame]) + (profile.frameLine[frame] ? `:${profile.frameLine[frame]}` : ""));
    }
    const say = (value: number, which: number) =>
      `${weight(value, event.unit)} (${percent(value, this.weights[which].total[0])})`;
    if (!this.isCompared)
      return [...lines, `total ${say(totals[0], 0)}`, ...this.intervalWords(totals[0]), `self ${say(selfs[0], 0)}`,
              ...this.intervalWords(selfs[0])];
    return [...lines, `before: total ${say(totals[0], 0)}, self ${say(selfs[0], 0)}`,
            `after: total ${say(totals[1], 1)}, self ${say(selfs[1], 1)}`, this.changeWords(totals)];
  }
  private intervalWords(value: number): string[] {
    const { total, effective } = this.weights[0];
    const text = this.state.intervals ? intervalText(value, total[0], effective) : "";
    return text === "" ? [] : [`95% interval ${text}`];
  }
  private changeWords(totals: number[]): string {
    if (totals[0] === 0 && totals[1] === 0) return "nothing on either side";
    if (totals[0] === 0) return "new";
    if (totals[1] === 0) return "gone";
    const [before, after] = totals.map((value, i) => (100 * value) / this.weights[i].total[0]);
    const points = after - before;
    return `${points >= 0 ? "+" : "−"}${Math.abs(points).toFixed(2)} percentage points`;
  }
}
