// The page: one state, the views that show it, and the effects of keys and clicks.

import { themeOf } from "./colors.js";
import { Kind, Profile, usualEvent } from "./data.js";
import { button, el, isTouched, narrowWindow, Tooltip } from "./dom.js";
import { FilterForm } from "./filter_form.js";
import { Filter, timeRange } from "./filters.js";
import { FlameCanvas, rowHeight } from "./flame.js";
import { functionColumns, rowsOf } from "./function_columns.js";
import { Head } from "./head.js";
import { Heatmap, stretches, usualStretch } from "./heatmap.js";
import { factsDialog, helpDialog } from "./help.js";
import { ListingView } from "./listing.js";
import { Model } from "./model.js";
import { Sandwich } from "./sandwich.js";
import { stateColors, stateNames } from "./sched.js";
import { fromHash, State, toHash, View, views } from "./state.js";
import { FunctionTable } from "./table.js";
import { Lane, lanesOf, Timeline } from "./timeline.js";
import { passesAll } from "./weights.js";

const leastOverview = 160;  // CSS pixels: a list that is worth having

function escapeRegex(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

export class App {
  readonly element: HTMLElement;
  private model: Model;
  private tooltip = new Tooltip();
  private views: View[];
  private head: Head;
  private main = el("main");
  private empty = el("p", { class: "nothing" }, "Nothing passes these filters.");
  private flame: FlameCanvas;
  private table: FunctionTable;
  private overview: FunctionTable;  // the functions, where a picture leaves room
  private sandwich: Sandwich;
  private listing: ListingView;
  private strip: Timeline;
  private timeline: Timeline;
  private chart: Timeline;
  private heatmap: Heatmap;
  private timeBar = el("div", { class: "time-bar" });  // above the timeline and the heat map
  private filterForm: FilterForm;
  private help = helpDialog();
  private facts: HTMLDialogElement;
  private lanes = new Map<string, Lane[]>();
  private kernelNodes: Uint8Array;
  private isTimelineZoomed = false;
  private steps = typeof history.state === "number" ? history.state : 0;  // our history entries

  private usual: number;  // event

  constructor(private profile: Profile) {
    this.usual = usualEvent(profile);
    this.model = new Model(profile, this.readHash(), themeOf(document.documentElement));
    this.views = views.filter((view) => this.has(view));
    this.head = new Head(this.model, this.views, {
      go: (change) => this.go(change), search: (text) => this.go({ search: text }, true), undo: () => this.undo(),
      canUndo: () => this.steps > 0, reset: () => this.reset(), showHelp: () => this.help.showModal(), showFacts: () => this.facts.showModal(),
      addFilter: () => this.filterForm.toggle(), switchTheme: () => this.switchTheme(),
    });
    this.filterForm = new FilterForm(profile, (filter) => this.addFilter(filter));
    this.facts = factsDialog(profile.facts, profile.warnings);
    this.flame = new FlameCanvas(true, {
      choose: (node, event) => this.chooseNode(node, event),
      hover: (node, x, y) => this.describeNode(node, x, y),
      leave: () => this.tooltip.hide(),
    });
    const sort = (key: string) => this.go({ sort: key }, true);
    this.table = new FunctionTable({ choose: (frame) => this.go({ view: "sandwich", focus: frame }), sort });
    this.overview = new FunctionTable({ choose: (frame) => this.go({ view: "sandwich", focus: frame }), sort });
    this.sandwich = new Sandwich(this.tooltip, { choose: (frame) => this.go({ focus: frame }), sort });
    this.listing = new ListingView({ choose: (frame) => this.go({ focus: frame }), sort, show: (code) => this.go({ code }, true) });
    const timeActions = {
      chooseRange: (range: [number, number] | null) => this.chooseRange(range),
      chooseLane: (lane: Lane) => this.chooseLane(lane),
      hover: (lines: string[], x: number, y: number) => this.tooltip.show(lines, x, y),
      leave: () => this.tooltip.hide(),
    };
    this.strip = new Timeline(true, timeActions);
    this.timeline = new Timeline(false, timeActions);
    this.chart = new Timeline(false, { ...timeActions, chooseFrame: (frame) => this.go({ view: "sandwich", focus: frame }) });
    this.heatmap = new Heatmap(timeActions);
    this.kernelNodes = Uint8Array.from(profile.tree.frame, (frame) =>
      frame >= 0 && profile.frameKind[frame] === Kind.kernel ? 1 : 0);
    this.element = el("div", { class: "app" }, this.head.element, this.filterForm.element, this.strip.element,
                      this.main, this.tooltip.element, this.help, this.facts);
    this.strip.element.hidden = profile.samples === null;
    window.addEventListener("hashchange", () => this.onHash());
    document.addEventListener("keydown", (event) => this.onKey(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.render());
    new ResizeObserver(() => {
      if (/flame|icicle/.test(this.model.state.view) && this.main.contains(this.flame.element)) this.arrangeFlame();
    }).observe(this.main);
    narrowWindow().addEventListener("change", () => this.render());
  }

  private has(view: View): boolean {
    if (view === "timeline" || view === "heatmap") return this.profile.samples !== null;
    if (view === "chart") return this.profile.samples !== null && this.profile.calls === null;  // else the timeline has the calls
    return view !== "code" || (this.profile.samples !== null && this.profile.listings.length > 0);
  }

  // State.

  private readHash(): State {
    const { events, tree, frameName, samples } = this.profile;
    const state = fromHash(location.hash, { events: events.length, usualEvent: this.usual, nodes: tree.frame.length,
                                            frames: frameName.length });
    if (!samples)  // nothing that such a filter could apply to
      state.filters = state.filters.filter(({ by }) => by !== "time" && by !== "thread" && by !== "process");
    return state;
  }
  /// A step that can be undone; or, with `quiet`, one that replaces the last (typing, sorting).
  private go(change: Partial<State>, quiet = false): void {
    this.model.state = { ...this.model.state, ...change };
    const hash = toHash(this.model.state, this.usual);
    if (hash === location.hash) return this.render();
    if (quiet) {
      history.replaceState(history.state, "", hash);
    } else {
      ++this.steps;
      history.pushState(this.steps, "", hash);
    }
    this.render();
  }
  private onHash(): void {
    this.steps = typeof history.state === "number" ? history.state : 0;
    this.model.state = this.readHash();
    this.render();
  }
  private undo(): void {
    if (this.steps > 0) history.back();
  }
  private reset(): void {
    this.go({ zoom: 0, search: "", filters: [] });
  }
  private addFilter(filter: Filter): void {
    this.go({ filters: [...this.model.state.filters, filter] });
  }
  private chooseRange(range: [number, number] | null): void {
    const others = this.model.state.filters.filter((filter) => filter.by !== "time");
    this.go({ filters: range ? [...others, { by: "time", from: range[0], to: range[1] }] : others });
  }
  /// Shows only this thread; or, if it was the only one, all.
  private chooseLane(lane: Lane): void {
    if ((this.model.state.lanes !== "threads" && this.model.state.view !== "chart") || lane.key < 0) return;
    const id = this.profile.threads[lane.key].tid;
    const others = this.model.state.filters.filter((filter) => filter.by !== "thread");
    const wasChosen = this.model.state.filters.some((f) => f.by === "thread" && f.id === id && !f.without);
    this.go({ filters: wasChosen ? others : [...others, { by: "thread", id, without: false }] });
  }
  private chooseNode(node: number, event: MouseEvent | KeyboardEvent): void {
    const frame = this.profile.tree.frame[node];
    if (event.shiftKey && frame >= 0) return this.go({ view: "sandwich", focus: frame });
    if (event.altKey && frame >= 0)
      return this.addFilter({ by: "function", text: `^${escapeRegex(this.profile.frameName[frame])}$`, without: false });
    this.go({ zoom: node });
    if (isTouched() && event instanceof MouseEvent) this.describeNode(node, event.clientX, event.clientY);
  }
  private switchTheme(): void {
    this.go({ theme: this.model.theme.dark ? "light" : "dark" }, true);
  }

  // Showing.

  render(): void {
    const { state } = this.model;
    if (!this.views.includes(state.view)) state.view = "flame";
    document.documentElement.dataset.theme = state.theme;
    this.model.theme = themeOf(document.documentElement);
    this.tooltip.hide();
    this.head.show(this.model);
    if (this.profile.samples) this.strip.show(this.timeContent("all"));
    const isTime = state.view === "timeline" || state.view === "heatmap" || state.view === "chart";
    this.strip.element.hidden = !this.profile.samples || isTime;
    const isEmpty = this.model.weights.every((weights) => weights.total[0] === 0) && !isTime;
    const shown = isEmpty ? [this.empty] : this.elementsOf(state.view);
    if (shown.some((element, i) => this.main.children[i] !== element) || this.main.children.length !== shown.length)
      this.main.replaceChildren(...shown);
    if (!isEmpty) this.showView(state.view);
  }
  private elementsOf(view: View): HTMLElement[] {
    switch (view) {
      case "flame": return [this.overview.element, this.flame.element];
      case "icicle": return [this.flame.element, this.overview.element];
      case "sandwich": return [this.sandwich.element];
      case "table": return [this.table.element];
      case "timeline": return [this.laneSwitch(), this.timeline.element];
      case "chart": return [this.chartBar(), this.chart.element];
      case "heatmap": return [this.stretchSwitch(), this.heatmap.element];
      case "code": return [this.listing.element];
    }
  }
  private showView(view: View): void {
    const { model } = this;
    switch (view) {
      case "flame": case "icicle": return this.showFlame(view === "flame");
      case "sandwich": return this.sandwich.show(model);
      case "table":
        return this.table.show({ columns: functionColumns(model, false), frames: rowsOf(model), sort: model.state.sort,
                                 chosen: model.state.focus });
      case "code": return this.listing.show(model);
      case "timeline": return this.timeline.show(this.timeContent(model.state.lanes));
      case "chart": return this.chart.show({ ...this.timeContent("threads"), chart: model.chart });
      case "heatmap": {
        const { profile, columns, passes, range, theme } = this.timeContent("all");
        return this.heatmap.show({ profile, columns, passes, range, theme, stretch: this.stretch });
      }
    }
  }
  private showFlame(upward: boolean): void {
    const { model } = this;
    const { tree } = this.profile;
    const { search, weights } = model;
    const { total } = model.shown;
    let { zoom } = model.state;
    while (zoom > 0 && total[zoom] === 0) zoom = tree.parent[zoom];  // filters left nothing of it
    this.arrangeFlame();
    this.flame.setUpward(upward);
    this.flame.show({
      tree, total, zoom, theme: model.theme,
      name: (node) => model.nameOf(tree.frame[node]),
      color: (node) => model.color(tree.frame[node], weights.map((w) => w.total[node])),
      matches: (node) => search !== null && node > 0 && search.frames[tree.frame[node]] === 1,
    });
  }
  /// Shallow stacks leave room for the list of functions. It does not depend on the zoom, so nothing jumps.
  private arrangeFlame(): void {
    const { model } = this;
    const wanted = this.flame.rowsOf(this.profile.tree, model.shown.total) * rowHeight;
    const isRoom = this.main.clientHeight - wanted >= leastOverview;
    this.flame.element.style.flex = isRoom ? `0 0 ${wanted}px` : "";
    this.overview.element.hidden = !isRoom;
    if (isRoom)
      this.overview.show({ columns: functionColumns(model, false), frames: rowsOf(model), sort: model.state.sort, chosen: model.state.focus });
  }
  private describeNode(node: number, x: number, y: number): void {
    const { model } = this;
    this.tooltip.show(model.describe(this.profile.tree.frame[node], model.weights.map((w) => w.total[node]),
                                     model.weights.map((w) => w.self[node])), x, y);
  }
  private timeContent(by: "threads" | "cpus" | "all") {
    const { model } = this;
    const others = model.state.filters.filter((filter) => filter.by !== "time" && !(by === "threads" && filter.by === "thread"));
    if (!this.lanes.has(by)) this.lanes.set(by, lanesOf(this.profile, by));
    return { profile: this.profile, lanes: this.lanes.get(by)!, by, columns: model.event.columns,
             passes: passesAll(this.profile, others), range: timeRange(model.state.filters),
             kernel: this.kernelNodes, marked: model.marked, colors: model.frameColors, theme: model.theme, chart: null };
  }
  /// µs from the first sample to the last.
  private get last(): number {
    const { samples } = this.profile;
    return samples && samples.count > 0 ? samples.time[samples.count - 1] : 0;
  }
  private get usefulStretches(): [number, string][] {
    return stretches.filter(([stretch]) => this.last / stretch <= 20000 && (stretch <= this.last || stretch === usualStretch(this.last)));
  }
  private get stretch(): number {
    const chosen = this.usefulStretches.find(([stretch]) => stretch === this.model.state.stretch);
    return chosen ? chosen[0] : usualStretch(this.last);
  }
  private stretchSwitch(): HTMLElement {
    const bar = this.timeBar;
    bar.replaceChildren("A column is");
    for (const [stretch, label] of this.usefulStretches) {
      const made = button(label, `Columns of ${label}`, () => this.go({ stretch }, true));
      made.setAttribute("aria-pressed", String(this.stretch === stretch));
      bar.append(made);
    }
    bar.append(el("span", { class: "hint" },
                  `Darker or brighter: more samples.${isTouched() ? "" : " Drag to select a time range."}`));
    return bar;
  }
  private laneSwitch(): HTMLElement {
    const { samples } = this.profile;
    const bar = this.timeBar;
    const choice = (label: string, lanes: State["lanes"]) => {
      const made = button(label, `A lane for each ${lanes === "cpus" ? "CPU" : "thread"}`, () => this.go({ lanes }, true));
      made.setAttribute("aria-pressed", String(this.model.state.lanes === lanes));
      return made;
    };
    bar.replaceChildren(choice("Threads", "threads"));
    if (samples && samples.cpu.some((cpu) => cpu >= 0)) bar.append(choice("CPUs", "cpus"));
    if (this.profile.sched && this.model.state.lanes === "threads") bar.append(this.stateLegend());
    const hint = isTouched() ? "Drag sideways to select a time range; tap a name for one thread."
      : "Drag to select a time range; click a name for one thread; z to zoom in.";
    bar.append(el("span", { class: "hint" }, hint));
    return bar;
  }

  private chartBar(): HTMLElement {
    const hint = isTouched() ? "Drag sideways to select a time range."
      : "Drag to select a time range; z to zoom in; click a box for its callers and callees.";
    this.timeBar.replaceChildren(el("span", { class: "hint" }, `What samples saw, by thread: a box is as long as they did. ${hint}`));
    return this.timeBar;
  }

  private stateLegend(): HTMLElement {
    const colors = stateColors(this.model.theme.dark);
    const legend = el("span", { class: "legend" }, ...stateNames.map((name, i) => {
      const mark = el("i");
      mark.style.background = colors[i];
      return el("span", {}, mark, name);
    }));
    const { unknown, partial } = this.profile.sched!;
    if (partial !== "" || unknown.length > 0)
      legend.append(el("span", {}, `blank: not known${partial === "" ? "" : ` (${partial})`}`));
    return legend;
  }

  // Keys.

  private onKey(event: KeyboardEvent): void {
    if (this.help.open || this.facts.open) return;
    const target = event.target as HTMLElement;
    if (event.key === "Escape") return this.onEscape(target);
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
    if (this.pressed(event)) event.preventDefault();
  }
  private onEscape(target: HTMLElement): void {
    if (!this.filterForm.element.hidden) return this.filterForm.toggle(false);
    if (target === this.head.searchBox) target.blur();
    this.reset();
  }
  /// Returns whether the key is bound.
  private pressed(event: KeyboardEvent): boolean {
    const { state } = this.model;
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    if (digit >= 1 && digit <= this.views.length) this.go({ view: this.views[digit - 1] });
    else if (event.key === "/") this.head.searchBox.select();
    else if (event.key === "?") this.help.showModal();
    else if (event.key === "u" || event.key === "Backspace") this.undo();
    else if (event.key === "f") this.filterForm.toggle(true);
    else if (event.key === "d") this.switchTheme();
    else if (event.key === "e") this.go({ event: (state.event + 1) % this.profile.events.length });
    else if (event.key === "i" && !this.model.isCompared) this.go({ intervals: !state.intervals }, true);
    else if (event.key === "z" && (state.view === "timeline" || state.view === "chart")) this.zoomTimeline();
    else return this.viewKey(event);
    return true;
  }
  private zoomTimeline(): void {
    this.isTimelineZoomed = !this.isTimelineZoomed;
    for (const shown of [this.timeline, this.chart]) shown.zoomTo(this.isTimelineZoomed ? timeRange(this.model.state.filters) : null);
  }
  private viewKey(event: KeyboardEvent): boolean {
    const { view } = this.model.state;
    if (view === "flame" || view === "icicle") return this.flame.key(event);
    if (view === "sandwich") return this.sandwich.table.key(event);
    if (view === "code") return this.listing.table.key(event);
    if (view === "table") return event.key.startsWith("Arrow") && this.table.key(event);
    return false;
  }
}

