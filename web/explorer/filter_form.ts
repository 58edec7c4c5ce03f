// The form that adds a filter.

import { kindNames, Profile } from "./data.js";
import { el } from "./dom.js";
import { Filter, FilterBy, namesOf } from "./filters.js";
import { regexFrom } from "./text.js";

type Choice = Exclude<FilterBy, "time">;

export class FilterForm {
  readonly element = el("form", { class: "filter-form", id: "filter-form" });
  private by = el("select", { "aria-label": "filter by" });
  private mode = el("select", { "aria-label": "only or without" }, new Option("only", "only"), new Option("without", "without"));
  private place = el("span", { class: "filter-value" });

  constructor(private profile: Profile, private onAdd: (filter: Filter) => void) {
    const choices: [Choice, string][] = [["function", "function (pattern)"], ["object", "object"], ["kind", "kind of code"]];
    if (profile.samples) choices.push(["thread", "thread"], ["process", "process"]);
    for (const [value, label] of choices) this.by.append(new Option(label, value));
    this.element.append(el("span", {}, "Stacks with"), this.mode, this.by, this.place,
                        el("button", { type: "submit" }, "Add"));
    this.by.addEventListener("change", () => this.showValues());
    this.element.addEventListener("submit", (event) => this.submit(event));
    this.element.hidden = true;
    this.showValues();
  }

  toggle(open = this.element.hidden): void {
    this.element.hidden = !open;
    if (open) (this.place.firstElementChild as HTMLElement).focus();
  }

  private showValues(): void {
    const by = this.by.value as Choice;
    if (by === "function") {
      this.place.replaceChildren(el("input", { type: "text", placeholder: "regular expression", "aria-label": "pattern" }));
      return;
    }
    const select = el("select", { "aria-label": "value" });
    for (const [value, label] of this.valuesOf(by)) select.append(new Option(label.slice(0, 90), value));
    this.place.replaceChildren(select);
  }
  private valuesOf(by: Choice): [string, string][] {
    const { profile } = this;
    if (by === "object") return [...new Set(profile.frameObject)].filter((o) => o !== "").sort().map((o) => [o, o]);
    if (by === "kind") return [...new Set(profile.frameKind)].sort().map((k) => [kindNames[k], kindNames[k]]);
    const whose = by === "thread" ? "thread" : "process";
    const ids = new Set(profile.threads.map((thread) => whose === "thread" ? thread.tid : thread.pid));
    const found = [...ids].map((id): [string, string] => [String(id), `${namesOf(profile, whose, id)} ${id}`]);
    return found.sort((a, b) => a[1] < b[1] ? -1 : 1);
  }

  private submit(event: Event): void {
    event.preventDefault();
    const by = this.by.value as Choice;
    const value = (this.place.firstElementChild as HTMLInputElement).value;
    const without = this.mode.value === "without";
    if (value === "" || (by === "function" && !regexFrom(value))) return;
    this.toggle(false);
    this.onAdd(by === "thread" || by === "process" ? { by, id: Number(value), without } : { by, text: value, without });
  }
}
