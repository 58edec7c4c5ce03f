// Functions with their sums, as rows. Only the visible rows are elements.

import { el } from "./dom.js";
import { shortName } from "./names.js";

const rowHeight = 24;

export interface Column {
  key: string;
  title: string;
  hint: string;
  numeric: boolean;
  width: string;                                   // of a CSS grid's track
  value: (frame: number) => number | string;       // the value to sort by
  text: (frame: number) => string;
  isName?: boolean;                                // of a function: shortened to what has room
  bar?: (frame: number) => number;                 // 0 … 1
  detail?: (frame: number) => string;              // shown where the mouse rests on the cell
}

export interface TableContent {
  columns: Column[];
  frames: number[];        // rows, not yet sorted
  sort: string;
  chosen: number;
}

export interface TableActions {
  choose(frame: number, event: MouseEvent | KeyboardEvent): void;
  sort(sort: string): void;
}

export class FunctionTable {
  readonly element = el("div", { class: "table", tabindex: "0", role: "table" });
  private head = el("div", { class: "head row", role: "row" });
  private spacer = el("div", { class: "spacer" });
  private body = el("div", { class: "body" });
  private content: TableContent = { columns: [], frames: [], sort: "", chosen: -1 };
  private sorted: number[] = [];
  private letter = 0;

  constructor(private actions: TableActions) {
    this.spacer.append(this.body);
    this.element.append(this.head, this.spacer);
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(content: TableContent): void {
    this.content = content;
    this.element.style.setProperty("--columns", content.columns.map((column) => column.width).join(" "));
    this.sorted = this.sort();
    this.drawHead();
    this.spacer.style.height = `${this.sorted.length * rowHeight}px`;
    this.draw();
  }

  key(event: KeyboardEvent): boolean {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return false;
    const at = this.sorted.indexOf(this.content.chosen);
    const next = this.sorted[Math.min(Math.max(at + step, 0), this.sorted.length - 1)];
    if (next === undefined) return true;
    this.content.chosen = next;
    this.reveal(next);
    this.actions.choose(next, event);
    return true;
  }
  reveal(frame: number): void {
    const at = this.sorted.indexOf(frame) * rowHeight;
    const room = this.element.clientHeight - this.head.offsetHeight;
    if (at < 0) return;
    if (at < this.element.scrollTop) this.element.scrollTop = at;
    else if (at + rowHeight > this.element.scrollTop + room) this.element.scrollTop = at + rowHeight - room;
    this.draw();
  }

  private sort(): number[] {
    const descending = !this.content.sort.startsWith("-");
    const key = this.content.sort.replace(/^-/, "");
    const column = this.content.columns.find((c) => c.key === key) ?? this.content.columns[0];
    const values = new Map(this.content.frames.map((frame) => [frame, column.value(frame)]));
    const sign = descending === column.numeric ? -1 : 1;  // numbers: largest first; words: from A
    return [...this.content.frames].sort((a, b) => {
      const x = values.get(a)!, y = values.get(b)!;
      return x < y ? -sign : x > y ? sign : a - b;
    });
  }

  private drawHead(): void {
    const { sort, columns } = this.content;
    this.head.replaceChildren(...columns.map((column) => {
      const isSorted = sort.replace(/^-/, "") === column.key;
      const down = sort.startsWith("-") ? "▴" : "▾";
      const cell = el("button", { type: "button", title: column.hint, class: column.numeric ? "number" : "" },
                      column.title + (isSorted ? ` ${down}` : ""));
      cell.addEventListener("click", () =>
        this.actions.sort(isSorted && !sort.startsWith("-") ? `-${column.key}` : column.key));
      return cell;
    }));
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 4);
    const last = Math.min(this.sorted.length, first + Math.ceil(this.element.clientHeight / rowHeight) + 8);
    const letters = this.content.columns.map((column, i) =>
      column.isName ? Math.floor((this.head.children[i].clientWidth - 16) / this.letterWidth) : Infinity);
    this.body.style.transform = `translateY(${first * rowHeight}px)`;
    this.body.replaceChildren(...this.sorted.slice(first, last).map((frame) => this.row(frame, letters)));
  }
  /// Of the names' font, in CSS pixels.
  private get letterWidth(): number {
    if (this.letter > 0) return this.letter;
    const probe = el("span", { class: "letters" }, "M".repeat(50));
    this.element.append(probe);
    this.letter = probe.getBoundingClientRect().width / 50;
    probe.remove();
    return this.letter || 7.3;  // not yet shown
  }
  private row(frame: number, letters: number[]): HTMLElement {
    const row = el("div", { class: frame === this.content.chosen ? "row chosen" : "row", role: "row" });
    this.content.columns.forEach((column, i) => {
      const text = column.text(frame);
      const shown = letters[i] > 0 ? shortName(text, letters[i]).slice(0, 400) : text;
      const cell = el("span", { role: "cell", class: column.numeric ? "number" : "name" }, shown);
      if (!column.numeric) cell.title = text.slice(0, 2000);
      if (column.detail) cell.title = column.detail(frame);
      if (column.bar) cell.style.setProperty("--share", `${(100 * column.bar(frame)).toFixed(2)}%`);
      if (column.bar) cell.classList.add("bar");
      row.append(cell);
    });
    row.addEventListener("click", (event) => this.actions.choose(frame, event));
    return row;
  }
}
