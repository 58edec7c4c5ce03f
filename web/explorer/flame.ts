// A tree of stacks on a canvas, growing up (flame graph) or down (icicle). Only boxes that are wide
// enough to see are laid out, and of those only the visible ones are drawn.

import { CallTree } from "./data.js";
import { Theme } from "./colors.js";
import { el, fit, oncePerFrame } from "./dom.js";
import { shortName } from "./names.js";

export const rowHeight = 19;
const narrowest = 0.45;   // CSS pixels
const letterWidth = 6.62; // of 11 px monospace; measured when first drawn
const font = '11px ui-monospace, "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace';

export interface FlameContent {
  tree: CallTree;
  total: Float64Array;            // by node: widths
  zoom: number;                   // node that fills the width
  name: (node: number) => string;
  color: (node: number) => string;
  matches: (node: number) => boolean;
  theme: Theme;
}

export interface FlameActions {
  choose(node: number, event: MouseEvent | KeyboardEvent): void;
  hover(node: number, x: number, y: number): void;
  leave(): void;
}

/// Rectangles of one layout, in depth-first order.
interface Layout {
  node: Int32Array;
  x: Float32Array;
  width: Float32Array;
  depth: Uint16Array;
  count: number;
  rows: number;
}

export class FlameCanvas {
  readonly element = el("div", { class: "flame", tabindex: "0", role: "img" });
  private canvas = el("canvas");
  private spacer = el("div", { class: "spacer" });
  private content: FlameContent | null = null;
  private layout: Layout = { node: new Int32Array(0), x: new Float32Array(0), width: new Float32Array(0),
                             depth: new Uint16Array(0), count: 0, rows: 0 };
  private focused = -1;  // node that the arrow keys are on
  private letter = letterWidth;
  private turned = false;  // since it was last shown

  constructor(private upward: boolean, private actions: FlameActions) {
    this.spacer.append(this.canvas);
    this.element.append(this.spacer);
    this.element.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.canvas.addEventListener("mousemove", (event) => this.onMove(event));
    this.canvas.addEventListener("mouseleave", () => this.actions.leave());
    this.canvas.addEventListener("click", (event) => {
      const node = this.nodeAt(event);
      if (node >= 0) this.actions.choose(node, event);
    });
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  setUpward(upward: boolean): void {
    this.turned = this.turned || this.upward !== upward;
    this.upward = upward;
  }

  show(content: FlameContent): void {
    const isNewPlace = this.content === null || this.content.tree !== content.tree || this.content.zoom !== content.zoom;
    this.content = content;
    if (isNewPlace) this.focused = -1;
    this.makeLayout();
    if (isNewPlace || this.turned) this.scrollToRoot();
    this.turned = false;
    this.redraw();
  }

  /// By how many rows the whole of a tree is high, as far as boxes are wide enough to see.
  rowsOf(tree: CallTree, total: Float64Array): number {
    const least = total[0] * narrowest / Math.max(1, this.width);
    const depth = new Uint16Array(tree.frame.length);
    let deepest = 0;
    for (let node = 1; node < depth.length; ++node) {
      depth[node] = depth[tree.parent[node]] + 1;
      if (total[node] > 0 && total[node] >= least) deepest = Math.max(deepest, depth[node]);
    }
    return deepest + 1;
  }

  /// Arrow keys: to the caller, the callee, the neighbours. Returns whether the key was used.
  key(event: KeyboardEvent): boolean {
    if (!this.content) return false;
    const { tree } = this.content;
    const toCallee = this.upward ? "ArrowUp" : "ArrowDown";
    const toCaller = this.upward ? "ArrowDown" : "ArrowUp";
    const at = this.focused >= 0 ? this.focused : this.content.zoom;
    let next = -1;
    if (event.key === "Enter" && this.focused >= 0) {
      this.actions.choose(this.focused, event);
      return true;
    }
    if (event.key === toCaller) next = tree.parent[at];
    else if (event.key === toCallee) next = this.heaviestChild(at);
    else if (event.key === "ArrowLeft") next = this.neighbour(at, -1);
    else if (event.key === "ArrowRight") next = this.neighbour(at, 1);
    else return false;
    if (next >= 0) this.focus(next);
    return true;
  }

  private heaviestChild(node: number): number {
    const { tree, total } = this.content!;
    let best = -1;
    for (let child = node + 1; child < tree.end[node]; child = tree.end[child])
      if (total[child] > 0 && (best < 0 || total[child] > total[best])) best = child;
    return best;
  }
  /// The node drawn beside a node, in its row.
  private neighbour(node: number, step: number): number {
    const { layout } = this;
    const at = layout.node.indexOf(node);
    if (at < 0) return -1;
    let best = -1;
    for (let i = 0; i < layout.count; ++i) {
      const ahead = (layout.x[i] - layout.x[at]) * step;
      if (layout.depth[i] !== layout.depth[at] || ahead <= 0) continue;
      if (best < 0 || ahead < (layout.x[best] - layout.x[at]) * step) best = i;
    }
    return best < 0 ? -1 : layout.node[best];
  }
  private focus(node: number): void {
    const at = this.layout.node.indexOf(node);
    if (at < 0 || at >= this.layout.count) return;
    this.focused = node;
    const top = this.rowTop(this.layout.depth[at]);
    const box = this.element;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight - box.clientHeight;
    this.redraw();
    const area = box.getBoundingClientRect();
    this.actions.hover(node, area.left + this.layout.x[at], area.top + top - box.scrollTop + rowHeight);
  }

  private get width(): number { return this.element.clientWidth; }
  private get height(): number { return Math.max(this.layout.rows * rowHeight, this.element.clientHeight); }
  private rowTop(depth: number): number {
    return this.upward ? this.height - (depth + 1) * rowHeight : depth * rowHeight;
  }

  private resize(): void {
    if (!this.content || this.width === 0) return;
    const fromEnd = this.height - this.element.scrollTop;
    this.makeLayout();
    if (this.upward) this.element.scrollTop = this.height - fromEnd;
    this.redraw();
  }
  private scrollToRoot(): void { this.element.scrollTop = this.upward ? this.height : 0; }

  private makeLayout(): void {
    const { tree, total, zoom } = this.content!;
    const node: number[] = [], x: number[] = [], width: number[] = [], depth: number[] = [];
    const put = (n: number, left: number, w: number, d: number) => {
      node.push(n);
      x.push(left);
      width.push(w);
      depth.push(d);
    };
    const path: number[] = [];
    for (let at = tree.parent[zoom]; at >= 0; at = tree.parent[at]) path.unshift(at);
    path.forEach((at, d) => put(at, 0, this.width, d));
    const scale = total[zoom] > 0 ? this.width / total[zoom] : 0;
    let rows = path.length + 1;
    const open: [number, number, number][] = total[zoom] > 0 ? [[zoom, 0, path.length]] : [];
    while (open.length > 0) {
      const [at, left, d] = open.pop()!;
      put(at, left, total[at] * scale, d);
      rows = Math.max(rows, d + 1);
      let childLeft = left;
      for (let child = at + 1; child < tree.end[at]; child = tree.end[child]) {
        const w = total[child] * scale;
        if (w >= narrowest) open.push([child, childLeft, d + 1]);
        childLeft += Math.max(0, w);
      }
    }
    this.layout = { node: Int32Array.from(node), x: Float32Array.from(x), width: Float32Array.from(width),
                    depth: Uint16Array.from(depth), count: node.length, rows };
    this.spacer.style.height = `${this.height}px`;
  }

  readonly redraw = oncePerFrame(() => this.draw());

  /// Draws at once; redraw() waits for the next animation frame.
  draw(): void {
    const content = this.content;
    const height = this.element.clientHeight;
    if (!content || this.width === 0 || height === 0) return;
    const context = fit(this.canvas, this.width, height);
    context.clearRect(0, 0, this.width, height);
    context.font = font;
    context.textBaseline = "middle";
    this.letter = context.measureText("MMMMMMMMMM").width / 10;
    const { layout } = this;
    const top = this.element.scrollTop;
    for (let i = 0; i < layout.count; ++i) {
      const y = this.rowTop(layout.depth[i]) - top;
      if (y > height || y + rowHeight < 0) continue;
      this.drawFrame(context, content, i, y);
    }
  }

  private drawFrame(context: CanvasRenderingContext2D, content: FlameContent, i: number, y: number): void {
    const node = this.layout.node[i];
    const x = this.layout.x[i];
    const w = Math.max(this.layout.width[i] - (this.layout.width[i] > 3 ? 1 : 0.2), 0.4);
    const isAbove = node < content.zoom;  // callers of the zoomed node: they are wider than shown
    context.globalAlpha = isAbove ? 0.55 : 1;
    context.fillStyle = content.matches(node) ? content.theme.match : content.color(node);
    context.fillRect(x, y, w, rowHeight - 1);
    context.globalAlpha = 1;
    if (node === this.focused) {
      context.strokeStyle = content.theme.text;
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), rowHeight - 3);
    }
    const text = w > 3 * this.letter + 6 ? this.cut(context, content.name(node), w - 7) : "";
    if (text === "") return;
    context.fillStyle = content.theme.onFrame;
    context.fillText(text, x + 4, y + rowHeight / 2);
  }

  /// As much of a name as fits.
  private cut(context: CanvasRenderingContext2D, name: string, room: number): string {
    const letters = Math.floor(room / this.letter);
    let text = shortName(name, letters);
    if (!/^[ -~…]*$/.test(text)) {
      const points = Array.from(text.slice(0, letters));  // wide letters: as many as fit
      if (points.length < text.length) points.push("…");
      while (points.length > 1 && context.measureText(points.join("")).width > room) points.splice(-2, 2, "…");
      text = points.join("");
    }
    return text.length > 2 || text === name ? text : "";
  }

  private nodeAt(event: MouseEvent): number {
    const x = event.offsetX;
    const y = event.offsetY + this.element.scrollTop;
    const depth = Math.floor((this.upward ? this.height - y : y) / rowHeight);
    const { layout } = this;
    for (let i = 0; i < layout.count; ++i)
      if (layout.depth[i] === depth && x >= layout.x[i] && x < layout.x[i] + layout.width[i]) return layout.node[i];
    return -1;
  }
  private onMove(event: MouseEvent): void {
    const node = this.nodeAt(event);
    this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
    if (node >= 0) this.actions.hover(node, event.clientX, event.clientY);
    else this.actions.leave();
  }
}
