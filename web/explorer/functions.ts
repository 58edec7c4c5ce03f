// Sums by function, and the trees of the callers and callees of one.

import { CallTree } from "./data.js";

export interface FunctionSums {
  self: Float64Array;   // by frame
  total: Float64Array;  // by frame; a recursive function counts once
}

/// Calls visit(node) for the outermost node of each frame on each path.
function forOutermost(tree: CallTree, visit: (node: number, frame: number) => void): void {
  let frames = 0;
  for (const frame of tree.frame) frames = Math.max(frames, frame + 1);
  const opened = new Uint32Array(frames);  // by frame: where the subtree of its outermost node ends
  for (let node = 1; node < tree.frame.length; ++node) {
    const frame = tree.frame[node];
    if (opened[frame] > node) continue;
    opened[frame] = tree.end[node];
    visit(node, frame);
  }
}

export function sumsByFunction(tree: CallTree, self: Float64Array, total: Float64Array, frames: number): FunctionSums {
  const sums = { self: new Float64Array(frames), total: new Float64Array(frames) };
  for (let node = 1; node < tree.frame.length; ++node) sums.self[tree.frame[node]] += self[node];
  forOutermost(tree, (node, frame) => { sums.total[frame] += total[node]; });
  return sums;
}

/// Outermost nodes of one frame.
function nodesOf(tree: CallTree, wanted: number): number[] {
  const found: number[] = [];
  for (let node = 1; node < tree.frame.length; ++node) {
    if (tree.frame[node] !== wanted) continue;
    found.push(node);
    node = tree.end[node] - 1;
  }
  return found;
}

/// A tree that grows in any order; finish() numbers it depth first, the heaviest child first.
class Growing {
  private frame: number[] = [];
  private parent: number[] = [];
  private children: Map<number, number>[] = [];
  private values: number[][];

  constructor(columns: number) { this.values = Array.from({ length: columns }, () => []); }

  child(parent: number, frame: number): number {
    const known = parent >= 0 ? this.children[parent].get(frame) : undefined;
    if (known !== undefined) return known;
    const made = this.frame.length;
    this.frame.push(frame);
    this.parent.push(parent);
    this.children.push(new Map());
    for (const column of this.values) column.push(0);
    if (parent >= 0) this.children[parent].set(frame, made);
    return made;
  }
  add(node: number, column: number, value: number): void { this.values[column][node] += value; }

  /// The added values, by new node numbers.
  finish(): { tree: CallTree; values: Float64Array[] } {
    const count = this.frame.length;
    const weight = Float64Array.from({ length: count }, (_, i) => this.values.reduce((sum, v) => sum + v[i], 0));
    for (let i = count - 1; i > 0; --i) weight[this.parent[i]] += weight[i];
    const tree = { frame: new Int32Array(count), parent: new Int32Array(count).fill(-1), end: new Uint32Array(count) };
    const values = this.values.map(() => new Float64Array(count));
    let next = 0;
    const place = (root: number) => {
      const open: { old: number; parent: number; made: number }[] = [{ old: root, parent: -1, made: -1 }];
      while (open.length > 0) {
        const top = open[open.length - 1];
        if (top.made >= 0) {
          tree.end[top.made] = next;
          open.pop();
          continue;
        }
        top.made = next++;
        tree.frame[top.made] = this.frame[top.old];
        tree.parent[top.made] = top.parent;
        this.values.forEach((column, i) => { values[i][top.made] = column[top.old]; });
        const below = [...this.children[top.old].values()].sort((a, b) => weight[a] - weight[b]);
        for (const old of below) open.push({ old, parent: top.made, made: -1 });
      }
    };
    if (count > 0) place(0);
    return { tree, values };
  }
}

export interface MergedTree { tree: CallTree; self: Float64Array[]; }

/// What the function calls: the trees below all its outermost nodes, merged. Node 0 is the
/// function. `self` has one array per given one.
export function calleesOf(tree: CallTree, selfs: Float64Array[], frame: number): MergedTree {
  const growing = new Growing(selfs.length);
  const root = growing.child(-1, frame);
  const made = new Map<number, number>();
  for (const start of nodesOf(tree, frame)) {
    made.set(start, root);
    selfs.forEach((self, column) => growing.add(root, column, self[start]));
    for (let node = start + 1; node < tree.end[start]; ++node) {
      const at = growing.child(made.get(tree.parent[node])!, tree.frame[node]);
      made.set(node, at);
      selfs.forEach((self, column) => growing.add(at, column, self[node]));
    }
  }
  const { tree: merged, values } = growing.finish();
  return { tree: merged, self: values };
}

/// The function's callers: the paths to its outermost nodes, seen from the function.
export function callersOf(tree: CallTree, totals: Float64Array[], frame: number): MergedTree {
  const growing = new Growing(totals.length);
  const root = growing.child(-1, frame);
  for (const start of nodesOf(tree, frame)) {
    if (totals.every((total) => total[start] === 0)) continue;
    let at = root;
    for (let node = tree.parent[start]; node > 0; node = tree.parent[node]) at = growing.child(at, tree.frame[node]);
    totals.forEach((total, column) => growing.add(at, column, total[start]));
  }
  const { tree: merged, values } = growing.finish();
  return { tree: merged, self: values };
}
