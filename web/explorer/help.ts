// What the keys and the mouse do, and the facts about the recording.

import { el, isTouched } from "./dom.js";

const keys: [string, string][] = [
  ["1 … 8", "views, in the order of the tabs"],
  ["/", "search: a regular expression; a capital letter makes it case-sensitive"],
  ["arrow keys", "in pictures: to caller, callee and neighbours; in tables: rows"],
  ["Enter", "zoom to the frame selected with the arrow keys"],
  ["Esc", "reset: no zoom, search or filters"],
  ["u, Backspace", "undo the last step (as does the browser's Back)"],
  ["f", "add a filter"],
  ["e", "next event"],
  ["i", "the 95% interval of each share, in the table and in tooltips"],
  ["z", "stack chart, timeline: show only the selected range; again: everything"],
  ["d", "dark or light"],
  ["?", "this help"],
];
const mouse: [string, string][] = [
  ["click on a frame", "zoom to it"],
  ["Shift+click on a frame", "its callers and callees"],
  ["Alt+click on a frame", "only stacks with this function"],
  ["drag over the stack chart, timeline or heat map", "select a time range: every view shows only that range"],
  ["click on a thread's name", "only this thread"],
  ["Ctrl+wheel over the stack chart or timeline", "zoom in, out; Shift+wheel: scroll sideways"],
];

const fingers: [string, string][] = [
  ["tap on a frame", "zoom to it, and say what it is; Sandwich then shows its callers and callees"],
  ["drag sideways over the strip or the timeline", "select a time range: every view shows only that range"],
  ["tap on a thread's name", "only this thread"],
  ["+ Filter", "only, or without, a function, an object, a thread …"],
  ["All", "reset: no zoom, search or filters"],
];

function listOf(rows: [string, string][]): HTMLElement {
  const list = el("dl");
  for (const [key, what] of rows) list.append(el("dt", {}, key), el("dd", {}, what));
  return list;
}

function dialog(title: string, id: string, ...children: HTMLElement[]): HTMLDialogElement {
  const close = el("button", { type: "button", class: "close", "aria-label": "close" }, "✕");
  const made = el("dialog", { id }, el("h2", {}, title), close, ...children);
  close.addEventListener("click", () => made.close());
  made.addEventListener("click", (event) => { if (event.target === made) made.close(); });
  return made;
}

export function helpDialog(): HTMLDialogElement {
  if (isTouched()) return dialog("Help", "help", listOf(fingers));
  return dialog("Keys and mouse", "help", listOf(keys), el("h3", {}, "Mouse"), listOf(mouse));
}

export function factsDialog(facts: [string, string][], warnings: string[]): HTMLDialogElement {
  return dialog("About this profile", "facts", listOf(facts),
    ...warnings.map((warning) => el("p", { class: "warning-text" }, warning)));
}
