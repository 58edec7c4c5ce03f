// Code of the hottest functions, line by line and instruction by instruction, with the weight of
// each. Only the sampled addresses themselves are counted here, not those of callers: these are
// separate weights.

import { Listing } from "./data.js";
import { el } from "./dom.js";
import { functionColumns } from "./function_columns.js";
import { Model } from "./model.js";
import { hasLines, hottestListing, weighPlaces, weightOf } from "./places.js";
import { FunctionTable } from "./table.js";
import { headingName } from "./names.js";
import { fileName, percent, weight } from "./text.js";

const rowHeight = 19;

interface Row {
  weight: number;      // NaN: a row that cannot have one
  mark: string;        // address, or line number
  text: string;
  place: string;       // if its source is not available: "file.c:12"
}

function sourceRows(listing: Listing, sums: Float64Array, file: number): Row[] {
  const source = listing.sources[file];
  const ofLine = new Float64Array(source.lines.length);
  listing.address.forEach((_, i) => {
    const at = listing.line[i] - source.first;
    if (listing.file[i] === file && at >= 0 && at < ofLine.length) ofLine[at] += sums[listing.start + i];
  });
  return source.lines.map((text, i) => ({ weight: ofLine[i], mark: String(source.first + i), text, place: "" }));
}

function instructionRows(listing: Listing, sums: Float64Array): Row[] {
  const rows: Row[] = [];
  let last = "";
  listing.address.forEach((address, i) => {
    const source = listing.sources[listing.file[i]];
    const place = source && listing.line[i] > 0 ? `${fileName(source.path)}:${listing.line[i]}` : "";
    const text = source ? source.lines[listing.line[i] - source.first] : undefined;
    const isNew = place !== last;
    last = place;
    if (isNew && text !== undefined) rows.push({ weight: NaN, mark: "", text: `${place}  ${text.trim()}`, place: "" });
    rows.push({ weight: sums[listing.start + i], mark: address, text: listing.text[i],
                place: isNew && text === undefined ? place : "" });
  });
  return rows;
}

export interface ListingActions {
  choose(frame: number): void;
  sort(sort: string): void;
  show(what: "code" | "source"): void;
}

export class ListingView {
  readonly element: HTMLElement;
  readonly table: FunctionTable;
  private title = el("div", { class: "sandwich-title" });
  private list = el("div", { class: "listing", tabindex: "0" });
  private spacer = el("div", { class: "spacer" });
  private body = el("div", { class: "body" });
  private modes = el("span", { class: "modes" });
  private rows: Row[] = [];
  private whole = 0;
  private shown: Listing | null = null;
  private what = "";

  constructor(private actions: ListingActions) {
    this.table = new FunctionTable({ choose: (frame) => actions.choose(frame), sort: actions.sort });
    this.spacer.append(this.body);
    this.list.append(this.spacer);
    this.list.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.list);
    this.element = el("div", { class: "sandwich" }, this.table.element,
                      el("div", { class: "halves" }, this.title, this.list));
  }

  show(model: Model): void {
    const { profile, state } = model;
    const sums = weighPlaces(profile, model.event, state.filters);
    const frames = [...new Set(profile.listings.map((listing) => listing.frame))];
    const search = model.search;
    const listing = profile.listings.find((l) => l.frame === state.focus) ?? hottestListing(profile.listings, sums);
    this.table.show({ columns: functionColumns(model, true), frames: frames.filter((f) => !search || search.frames[f] === 1),
                      sort: state.sort, chosen: listing.frame });
    this.whole = weightOf(listing, sums);
    const hasSource = hasLines(listing);
    const what = state.code === "source" && hasSource ? "source" : "code";
    this.rows = what === "source" ? sourceRows(listing, sums, 0) : instructionRows(listing, sums);
    this.showTitle(model, listing, what, hasSource);
    this.spacer.style.height = `${this.rows.length * rowHeight}px`;
    if (this.shown !== listing || this.what !== what) this.scrollToHottest();
    if (this.shown !== listing) this.table.reveal(listing.frame);
    this.shown = listing;
    this.what = what;
    this.draw();
  }

  private showTitle(model: Model, listing: Listing, what: "code" | "source", hasSource: boolean): void {
    const words = `${weight(this.whole, model.event.unit)} here` + (listing.cut ? "; only the beginning of the function is shown" : "");
    const mode = (label: string, value: "code" | "source") => {
      const made = el("button", { type: "button", "aria-pressed": String(what === value) }, label);
      made.addEventListener("click", () => this.actions.show(value));
      return made;
    };
    this.modes.replaceChildren(mode("Instructions", "code"), ...(hasSource ? [mode("Source", "source")] : []));
    this.title.replaceChildren(el("strong", { title: listing.name.slice(0, 2000) }, headingName(listing.name)), el("span", {}, words), el("span", { class: "grow" }), this.modes);
  }
  private scrollToHottest(): void {
    let best = 0;
    this.rows.forEach((row, i) => { if (row.weight > (this.rows[best].weight || 0)) best = i; });
    this.list.scrollTop = Math.max(0, best * rowHeight - this.list.clientHeight / 2);
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.list.scrollTop / rowHeight) - 5);
    const last = Math.min(this.rows.length, first + Math.ceil(this.list.clientHeight / rowHeight) + 10);
    this.body.style.transform = `translateY(${first * rowHeight}px)`;
    this.body.replaceChildren(...this.rows.slice(first, last).map((row) => this.line(row)));
  }
  private line(row: Row): HTMLElement {
    const line = el("div", { class: Number.isNaN(row.weight) ? "code comment" : "code" });
    const share = el("span", { class: "share" }, row.weight > 0 ? percent(row.weight, this.whole) : "");
    const part = row.weight > 0 && this.whole > 0 ? row.weight / this.whole : 0;
    line.style.setProperty("--share", `${(100 * part).toFixed(1)}%`);
    line.append(share, el("span", { class: "mark" }, row.mark), el("span", { class: "text" }, row.text));
    if (row.place !== "") line.append(el("span", { class: "place" }, row.place));
    return line;
  }
}
