// The header above every view: title, event, search, tabs, and the path of filters.

import { changeColor, kindColor } from "./colors.js";
import { Kind, kindNames } from "./data.js";
import { button, el, isTouched } from "./dom.js";
import { describe } from "./filters.js";
import { Model } from "./model.js";
import { headingName } from "./names.js";
import { State, View } from "./state.js";
import { percent, weight } from "./text.js";
import { sampleWords } from "./weights.js";

export const viewNames: Record<View, string> = {
  flame: "Flame graph", icicle: "Icicle", chart: "Stack chart", sandwich: "Sandwich", table: "Table", timeline: "Timeline",
  heatmap: "Heat map", code: "Code",
};

export interface HeadActions {
  go(change: Partial<State>): void;
  search(text: string): void;
  undo(): void;
  canUndo(): boolean;
  reset(): void;
  showHelp(): void;
  showFacts(): void;
  addFilter(): void;
  switchTheme(): void;
}

export class Head {
  readonly element: HTMLElement;
  readonly searchBox = el("input", { type: "search", id: "search", placeholder: isTouched() ? "Search" : "Search  /", spellcheck: "false",
                                     autocomplete: "off", "aria-label": "search with a regular expression" });
  private matched = el("output", { id: "matched" });
  private tabs = el("nav", { class: "tabs", "aria-label": "views" });
  private events = el("select", { id: "event", "aria-label": "event" });
  private colors = el("select", { id: "colors", "aria-label": "colour by" }, new Option("colour by kind", "kind"),
                      new Option("colour by object", "object"), new Option("colour by function", "function"));
  private sides = el("select", { id: "side", "aria-label": "widths" }, new Option("widths: after", "after"),
                     new Option("widths: before", "before"));
  private crumbs = el("div", { class: "crumbs", id: "crumbs" });
  private legend = el("div", { class: "legend" });
  private kinds: number[];
  private intervals = button("± 95%", "The 95% interval of each share, in the table and in tooltips (i)",
                             () => this.actions.go({ intervals: this.intervals.getAttribute("aria-pressed") !== "true" }));
  private theme = button("◐", "Dark or light (d)", () => this.actions.switchTheme());

  constructor(model: Model, views: View[], private actions: HeadActions) {
    const { profile } = model;
    this.kinds = [...new Set(profile.frameKind)].filter((kind) => kind !== Kind.task).sort();
    profile.events.forEach((event, i) => this.events.append(new Option(event.name, String(i))));
    this.events.hidden = profile.events.length < 2;
    this.events.addEventListener("change", () => actions.go({ event: Number(this.events.value) }));
    this.colors.hidden = model.isCompared;
    this.colors.addEventListener("change", () => actions.go({ colors: this.colors.value as State["colors"] }));
    this.sides.hidden = !model.isCompared;
    this.sides.addEventListener("change", () => actions.go({ before: this.sides.value === "before" }));
    this.searchBox.addEventListener("input", () => actions.search(this.searchBox.value));
    views.forEach((view, i) => this.tabs.append(this.tab(view, i)));
    const warning = button(`⚠ ${profile.warnings.length}`, profile.warnings.join("\n"), () => actions.showFacts());
    warning.className = "warning";
    warning.id = "warnings";
    warning.hidden = profile.warnings.length === 0;
    this.theme.id = "theme";
    this.intervals.id = "intervals";
    this.intervals.hidden = model.isCompared;
    const title = el("h1", { title: profile.title }, profile.title);
    this.element = el("header", {},
      el("div", { class: "bar" }, title, warning, button("About", "Host, command, events", () => actions.showFacts()),
         el("span", { class: "grow" }), this.events, this.matched, this.searchBox, this.theme,
         button("?", isTouched() ? "Help" : "Keys and mouse (?)", () => actions.showHelp())),
      el("div", { class: "bar second" }, this.tabs, el("span", { class: "grow" }), this.legend, this.sides, this.colors),
      this.crumbs);
  }
  private tab(view: View, index: number): HTMLElement {
    const tab = button(viewNames[view], `${viewNames[view]} (${index + 1})`, () => this.actions.go({ view }));
    tab.dataset.view = view;
    return tab;
  }

  show(model: Model): void {
    const { state } = model;
    this.events.value = String(state.event);
    this.colors.value = state.colors;
    this.intervals.setAttribute("aria-pressed", String(state.intervals));
    this.sides.value = state.before ? "before" : "after";
    for (const tab of this.tabs.children) {
      const isOn = (tab as HTMLElement).dataset.view === state.view;
      tab.setAttribute("aria-current", isOn ? "page" : "false");
      if (isOn) this.reveal(tab as HTMLElement);
    }
    if (this.searchBox.value !== state.search) this.searchBox.value = state.search;
    this.matched.textContent = model.search?.text ?? "";
    this.showLegend(model);
    this.showCrumbs(model);
  }
  /// In a narrow window the tabs scroll.
  private reveal(tab: HTMLElement): void {
    const { tabs } = this;
    const from = tab.offsetLeft - tabs.offsetLeft, room = tabs.clientWidth, margin = 40;
    if (from < tabs.scrollLeft + margin) tabs.scrollLeft = from - margin;
    else if (from + tab.offsetWidth + margin > tabs.scrollLeft + room) tabs.scrollLeft = from + tab.offsetWidth + margin - room;
  }
  private showLegend(model: Model): void {
    const { dark } = model.theme;
    let items: [string, string][] = [];
    if (model.isCompared) items = [["grew", changeColor(0.35, dark)], ["shrank", changeColor(-0.35, dark)]];
    else if (model.state.colors === "kind" && !["heatmap", "table", "code"].includes(model.state.view))
      items = this.kinds.map((kind) => [kindNames[kind], kindColor(kind, dark)]);
    this.legend.replaceChildren(...items.map(([label, color]) => {
      const patch = el("i");
      patch.style.background = color;
      return el("span", {}, patch, label);
    }));
  }

  private showCrumbs(model: Model): void {
    const { state, profile } = model;
    const parts: HTMLElement[] = [];
    const whole = button("All", "Show everything again (Esc)", () => this.actions.reset());
    whole.className = "crumb";
    parts.push(whole);
    state.filters.forEach((filter, i) => {
      parts.push(this.chip(describe(profile, filter),
        () => this.actions.go({ filters: state.filters.slice(0, i + 1), zoom: 0 }),
        () => this.actions.go({ filters: state.filters.filter((_, j) => j !== i) })));
    });
    const isZoomed = state.zoom !== 0 && (state.view === "flame" || state.view === "icicle");
    if (isZoomed)
      parts.push(this.zoomChip(model.nameOf(profile.tree.frame[state.zoom])));
    const add = button("+ Filter", "Filter by function, object, thread … (f)", () => this.actions.addFilter());
    add.id = "add-filter";
    const undo = button("Undo", "Undo the last step (u)", () => this.actions.undo());
    undo.id = "undo";
    undo.disabled = !this.actions.canUndo();
    this.crumbs.replaceChildren(...parts, add, undo, el("span", { class: "grow" }), this.summary(model), this.intervals);
  }
  private zoomChip(name: string): HTMLElement {
    const made = this.chip(`zoomed to ${headingName(name)}`, () => {}, () => this.actions.go({ zoom: 0 }));
    (made.firstElementChild as HTMLElement).title = name.slice(0, 500);
    return made;
  }
  private chip(label: string, onClick: () => void, onRemove: () => void): HTMLElement {
    const text = button(label.slice(0, 160), label.slice(0, 500), onClick);
    text.className = "crumb";
    const remove = button("✕", "Remove this", onRemove);
    remove.className = "remove";
    return el("span", { class: "chip" }, text, remove);
  }
  private summary(model: Model): HTMLElement {
    const output = el("output", { id: "summary" });
    if (model.isCompared) {
      output.textContent = model.weights.map((w, i) =>
        `${["before", "after"][i]} ${weight(w.total[0], model.event.unit)}`).join(" · ");
      return output;
    }
    const { samples, total, whole } = model.weights[0];
    const amount = weight(total[0], model.event.unit);
    const words = model.event.unit === "samples" ? [amount] : [sampleWords(samples), amount].filter((word) => word !== "");
    if (total[0] !== whole) words.push(`${percent(total[0], whole)} of all`);
    output.textContent = words.join(" · ");
    return output;
  }
}
