// The columns and rows of tables of functions.

import { kindNames } from "./data.js";
import { narrowWindow } from "./dom.js";
import { intervalText } from "./interval.js";
import { Model } from "./model.js";
import { Column } from "./table.js";
import { fileName, percent, shortWeight } from "./text.js";

/// Functions that have any weight, and whose names match the search.
export function rowsOf(model: Model): number[] {
  const search = model.search;
  const rows: number[] = [];
  for (let frame = 0; frame < model.profile.frameName.length; ++frame) {
    if (search && search.frames[frame] === 0) continue;
    if (model.sums.some((sums) => sums.total[frame] !== 0)) rows.push(frame);
  }
  return rows;
}

/// `beside` a picture: shares and names only, as everywhere on a phone.
export function functionColumns(model: Model, beside: boolean): Column[] {
  const narrow = beside || narrowWindow().matches;
  const name: Column = {
    key: "name", title: "Function", hint: "Sort by name", numeric: false, width: "minmax(160px, 3fr)",
    value: (f) => model.nameOf(f).toLowerCase(), text: (f) => model.nameOf(f), isName: true,
  };
  if (model.isCompared && narrow) return [...comparedColumns(model).slice(0, 2), name];
  if (model.isCompared) return [...comparedColumns(model), name, ...placeColumns(model)];
  const { self, total } = model.sums[0];
  const whole = model.weights[0].total[0];
  const ends = (value: number) => intervalText(value, whole, model.weights[0].effective);
  const share = (key: string, title: string, values: Float64Array, hint: string): Column => ({
    key, title, hint, numeric: true, width: narrow ? "72px" : "84px", value: (f) => values[f],
    text: (f) => percent(values[f], whole), bar: (f) => whole > 0 ? values[f] / whole : 0,
    detail: (f) => ends(values[f]) && `95% interval ${ends(values[f])}`,
  });
  const interval = (key: string, values: Float64Array): Column => ({
    key: `${key}_interval`, title: "95% interval", hint: "Where the share would be with many more samples; sorts by the share",
    numeric: true, width: "132px", value: (f) => values[f], text: (f) => ends(values[f]),
  });
  const amount = (key: string, title: string, values: Float64Array): Column => ({
    key, title, hint: `Sort by ${title.toLowerCase()}`, numeric: true, width: "minmax(88px, 0.7fr)", value: (f) => values[f],
    text: (f) => shortWeight(values[f], model.event.unit),
  });
  const shares = [share("self", "Self", self, "In the function itself"),
                  share("total", "Total", total, "In the function and its callees")];
  if (narrow) return [...shares, name];
  // Both would push the names off a narrow window.
  if (model.state.intervals)
    return [shares[0], interval("self", self), shares[1], interval("total", total), name, ...placeColumns(model)];
  return [shares[0], amount("self_amount", `Self, ${unitWord(model)}`, self), shares[1],
          amount("total_amount", `Total, ${unitWord(model)}`, total), name, ...placeColumns(model)];
}

function unitWord(model: Model): string {
  return model.event.unit === "nanoseconds" ? "time" : model.event.unit;
}

function placeColumns(model: Model): Column[] {
  const { profile } = model;
  return [
    { key: "object", title: "Object", hint: "Sort by object", numeric: false, width: "minmax(90px, 1fr)",
      value: (f) => fileName(profile.frameObject[f]), text: (f) => fileName(profile.frameObject[f]) },
    { key: "kind", title: "Kind", hint: "Sort by kind", numeric: false, width: "110px",
      value: (f) => kindNames[profile.frameKind[f]] ?? "", text: (f) => kindNames[profile.frameKind[f]] ?? "" },
  ];
}

function comparedColumns(model: Model): Column[] {
  const share = (which: number, key: "self" | "total", f: number) =>
    model.weights[which].total[0] === 0 ? 0 : (100 * model.sums[which][key][f]) / model.weights[which].total[0];
  const change = (key: "self" | "total", f: number) => share(1, key, f) - share(0, key, f);
  const made = (key: string, title: string, hint: string, value: (f: number) => number, signed: boolean): Column => ({
    key, title, hint, numeric: true, width: "92px", value: signed ? (f) => Math.abs(value(f)) : value,
    text: (f) => signed ? `${value(f) > 0 ? "+" : value(f) < 0 ? "−" : ""}${Math.abs(value(f)).toFixed(2)}%` : `${value(f).toFixed(2)}%`,
  });
  return [
    made("self", "Self ±", "Change in the share of the function itself, in percentage points", (f) => change("self", f), true),
    made("total", "Total ±", "Change in the share of the function and its callees, in percentage points", (f) => change("total", f), true),
    made("before", "Before", "Share before, including its callees", (f) => share(0, "total", f), false),
    made("after", "After", "Share after, including its callees", (f) => share(1, "total", f), false),
  ];
}
