// Sandwich: one function between its callers (above) and its callees (below), beside the list of
// all functions.

import { FlameCanvas, rowHeight } from "./flame.js";
import { callersOf, calleesOf, MergedTree } from "./functions.js";
import { el, Tooltip } from "./dom.js";
import { FunctionTable } from "./table.js";
import { functionColumns, rowsOf } from "./function_columns.js";
import { Model } from "./model.js";
import { headingName } from "./names.js";
import { percent, weight } from "./text.js";
import { totalsOf } from "./weights.js";

export interface SandwichActions {
  choose(frame: number): void;
  sort(sort: string): void;
}

export class Sandwich {
  readonly element: HTMLElement;
  readonly table: FunctionTable;
  private title = el("div", { class: "sandwich-title" });
  private callers: FlameCanvas;
  private callees: FlameCanvas;
  private trees: { merged: MergedTree; totals: Float64Array[] }[] = [];
  private model: Model | null = null;

  constructor(private tooltip: Tooltip, actions: SandwichActions) {
    this.table = new FunctionTable({ choose: (frame) => actions.choose(frame), sort: actions.sort });
    this.callers = this.half(true, 0, actions);
    this.callees = this.half(false, 1, actions);
    this.element = el("div", { class: "sandwich" }, this.table.element,
      el("div", { class: "halves" }, el("div", { class: "half-label" }, "Callers"), this.callers.element,
         this.title, this.callees.element, el("div", { class: "half-label" }, "Callees")));
  }
  private half(upward: boolean, index: number, actions: SandwichActions): FlameCanvas {
    return new FlameCanvas(upward, {
      choose: (node) => actions.choose(this.trees[index].merged.tree.frame[node]),
      hover: (node, x, y) => this.describe(index, node, x, y),
      leave: () => this.tooltip.hide(),
    });
  }
  private describe(index: number, node: number, x: number, y: number): void {
    const { merged, totals } = this.trees[index];
    const lines = this.model!.describe(merged.tree.frame[node], totals.map((t) => t[node]), merged.self.map((s) => s[node]));
    // The tree does not hold a caller's self weight, but its part of the function's total.
    this.tooltip.show(index === 0 ? lines.filter((line) => !line.startsWith("self ")) : lines, x, y);
  }

  show(model: Model): void {
    this.model = model;
    const frame = model.focus;
    this.table.show({ columns: functionColumns(model, true), frames: rowsOf(model), sort: model.state.sort, chosen: frame });
    this.element.classList.toggle("empty", frame < 0);
    if (frame < 0) {
      this.title.textContent = "Choose a function in the list to see its callers and callees.";
      return;
    }
    const { tree } = model.profile;
    const callers = callersOf(tree, model.weights.map((w) => w.total), frame);
    const callees = calleesOf(tree, model.weights.map((w) => w.self), frame);
    this.trees = [callers, callees].map((merged) => ({ merged, totals: merged.self.map((s) => totalsOf(s, merged.tree.parent)) }));
    this.showTitle(model, frame);
    [this.callers, this.callees].forEach((canvas, i) => this.showHalf(model, canvas, i));
    this.shareRoom(model);
  }
  /// Each half is as high as its stacks; what is left over is above the callers.
  private shareRoom(model: Model): void {
    [this.callers, this.callees].forEach((canvas, i) => {
      const rows = canvas.rowsOf(this.trees[i].merged.tree, this.trees[i].totals[model.which]);
      canvas.element.style.flex = `${1 - i} 1 ${rows * rowHeight}px`;
    });
  }
  private showTitle(model: Model, frame: number): void {
    const sums = model.sums[model.which];
    const say = (value: number) => `${weight(value, model.event.unit)} (${percent(value, model.shown.total[0])})`;
    this.title.replaceChildren(el("strong", { title: model.nameOf(frame).slice(0, 2000) }, headingName(model.nameOf(frame))),
      el("span", {}, `total ${say(sums.total[frame])}, self ${say(sums.self[frame])}`));
  }
  private showHalf(model: Model, canvas: FlameCanvas, index: number): void {
    const { merged, totals } = this.trees[index];
    const { frame } = merged.tree;
    const search = model.search;
    canvas.show({
      tree: merged.tree, total: totals[model.which], zoom: 0, theme: model.theme,
      name: (node) => model.nameOf(frame[node]),
      color: (node) => model.color(frame[node], totals.map((t) => t[node])),
      matches: (node) => search !== null && search.frames[frame[node]] === 1,
    });
  }
}
