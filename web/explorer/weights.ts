// The weight of each node under the current filters: one pass over the samples, one forward and one
// backward over the nodes.

import { EventInfo, Profile } from "./data.js";
import { Filter, stackMask, threadMask, timeRange } from "./filters.js";
import { grouped } from "./text.js";

export interface Weights {
  self: Float64Array;    // by node
  total: Float64Array;   // by node: including everything below
  samples: number;       // number of samples; NaN if not known
  effective: number;     // independent samples of equal weight that would say as much; NaN if not known
  whole: number;         // of the event without filters
}

/// Whether sample i passes all filters; null if there are none.
export function passesAll(profile: Profile, filters: Filter[]): ((i: number) => boolean) | null {
  const ofSample = samplePredicate(profile, filters);
  const stacks = stackMask(profile, filters);
  const node = profile.samples?.node;
  if (!stacks || !node) return ofSample;
  return (i) => stacks[node[i]] === 1 && (!ofSample || ofSample(i));
}

/// Whether sample i matches the time and thread filters; null if there are none.
function samplePredicate(profile: Profile, filters: Filter[]): ((i: number) => boolean) | null {
  const samples = profile.samples;
  const threads = threadMask(profile, filters);
  const range = timeRange(filters);
  if (!samples || (!threads && !range)) return null;
  const { time, thread } = samples;
  return (i) => (!threads || threads[thread[i]] === 1) && (!range || (time[i] >= range[0] && time[i] <= range[1]));
}

/// Adds everything below a node to it. Numbers are depth first, so the last comes first.
export function totalsOf(self: Float64Array, parent: Int32Array): Float64Array {
  const total = Float64Array.from(self);
  for (let i = total.length - 1; i > 0; --i) total[parent[i]] += total[i];
  return total;
}

function sumSamples(profile: Profile, column: number, passes: (i: number) => boolean,
                    stacks: Uint8Array | null): [Float64Array, number] {
  const samples = profile.samples!;
  const self = new Float64Array(profile.tree.frame.length);
  let count = 0;
  for (let i = 0; i < samples.count; ++i) {
    if (samples.column[i] !== column || !passes(i)) continue;
    const node = samples.node[i];
    if (stacks && stacks[node] === 0) continue;
    self[node] += samples.value[i];
    ++count;
  }
  return [self, count];
}

function maskSelf(self: Float64Array, stacks: Uint8Array): Float64Array {
  const masked = Float64Array.from(self);
  for (let i = 0; i < masked.length; ++i) if (stacks[i] === 0) masked[i] = 0;
  return masked;
}

function countSamples(profile: Profile, column: number, stacks: Uint8Array): number {
  const samples = profile.samples;
  if (!samples) return NaN;
  let count = 0;
  for (let i = 0; i < samples.count; ++i)
    if (samples.column[i] === column && stacks[samples.node[i]] === 1) ++count;
  return count;
}

/// Samples of different weight count for less (Kish's effective size).
function effectiveSamples(profile: Profile, column: number, passes: ((i: number) => boolean) | null,
                          stacks: Uint8Array | null): number {
  const samples = profile.samples!;
  let sum = 0, squares = 0;
  for (let i = 0; i < samples.count; ++i) {
    if (samples.column[i] !== column || (passes && !passes(i)) || (stacks && stacks[samples.node[i]] === 0)) continue;
    sum += samples.value[i];
    squares += samples.value[i] ** 2;
  }
  return squares > 0 ? sum ** 2 / squares : NaN;
}

/// For one column of an event (0, or 1 for the second profile in a comparison).
export function weigh(profile: Profile, event: EventInfo, which: number, filters: Filter[]): Weights {
  const column = event.columns[which];
  const passes = samplePredicate(profile, filters);
  const stacks = stackMask(profile, filters);
  let self = profile.self[column];
  let count = event.samples[which] || NaN;
  if (passes) [self, count] = sumSamples(profile, column, passes, stacks);
  else if (stacks) [self, count] = [maskSelf(self, stacks), countSamples(profile, column, stacks)];
  const total = totalsOf(self, profile.tree.parent);
  const effective = profile.samples ? effectiveSamples(profile, column, passes, stacks)
    : event.unit === "samples" ? total[0] : passes || stacks ? NaN : count;
  let whole = 0;
  for (const value of profile.self[column]) whole += value;
  return { self, total, samples: count, effective, whole };
}

export function sampleWords(samples: number): string {
  return Number.isNaN(samples) ? "" : `${grouped(samples)} ${samples === 1 ? "sample" : "samples"}`;
}
