// Numbers, times and patterns as people read and write them.

export function percent(part: number, whole: number): string {
  if (whole === 0) return "0%";
  const value = (100 * part) / whole;
  return `${value.toFixed(Math.abs(value) >= 99.995 ? 0 : 2)}%`;
}

function scaled(value: number, units: string[], step: number): string {
  let unit = 0;
  while (Math.abs(value) >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${unit === 0 ? Math.round(value * 100) / 100 : value.toFixed(2)} ${units[unit]}`;
}

export function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/// A weight with its unit: "1.25 s", "3.00 MiB", "1,234 samples".
export function weight(value: number, unit: string): string {
  if (unit === "nanoseconds") return scaled(value, ["ns", "µs", "ms", "s"], 1000);
  if (unit === "microseconds") return scaled(value, ["µs", "ms", "s"], 1000);
  if (unit === "bytes") return scaled(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
  return `${grouped(value)} ${Math.abs(value) === 1 ? unit.replace(/s$/, "") : unit}`;
}

/// For columns of numbers under a heading.
export function shortWeight(value: number, unit: string): string {
  return unit === "nanoseconds" || unit === "microseconds" || unit === "bytes" ? weight(value, unit) : grouped(value);
}

export function seconds(microseconds: number, digits = 3): string {
  return `${(microseconds / 1e6).toFixed(digits)} s`;
}

/// Case-sensitive only if the pattern contains a capital letter. Null: no pattern, or an invalid
/// one.
export function regexFrom(pattern: string): RegExp | null {
  if (pattern === "") return null;
  try {
    return new RegExp(pattern, /[A-Z]/.test(pattern.replace(/\\[A-Z]/g, "")) ? "" : "i");
  } catch {
    return null;
  }
}

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}
