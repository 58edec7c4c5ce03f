// How far the share of a function may be from the true one: the score interval of a proportion, as in
// src/analysis/sampling/share_interval.h.

const deviations = 1.959964;  // of a normal distribution, which 95 % is within

/// In fractions of 1, of a share seen in this many samples. Null if their number is not known.
export function shareInterval(share: number, samples: number): [number, number] | null {
  if (!(samples > 0)) return null;
  const p = Math.min(1, Math.max(0, share));
  const z2 = deviations ** 2;
  const middle = p + z2 / (2 * samples);
  const half = deviations * Math.sqrt((p * (1 - p)) / samples + z2 / (4 * samples ** 2));
  const scale = 1 + z2 / samples;
  return [Math.min(p, Math.max(0, (middle - half) / scale)), Math.max(p, Math.min(1, (middle + half) / scale))];
}

/// "1.20 – 3.40%"; empty if the number of samples is not known.
export function intervalText(part: number, whole: number, samples: number): string {
  const interval = whole > 0 ? shareInterval(part / whole, samples) : null;
  return interval ? `${(100 * interval[0]).toFixed(2)} – ${(100 * interval[1]).toFixed(2)}%` : "";
}
