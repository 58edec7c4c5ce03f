// The weights of instructions, and of the functions whose code the page has.

import { EventInfo, Listing, Profile } from "./data.js";
import { Filter } from "./filters.js";
import { passesAll } from "./weights.js";

/// By instruction of all listings: the event's weight under the filters.
export function weighPlaces(profile: Profile, event: EventInfo, filters: Filter[]): Float64Array {
  const samples = profile.samples!;
  const column = event.columns[0];
  const passes = passesAll(profile, filters);
  let places = 0;
  for (const listing of profile.listings) places += listing.address.length;
  const sums = new Float64Array(places + 1);
  for (let i = 0; i < samples.count; ++i)
    if (samples.column[i] === column && (!passes || passes(i))) sums[samples.place[i]] += samples.value[i];
  return sums.subarray(1);  // 0 is any other place
}

export function weightOf(listing: Listing, sums: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < listing.address.length; ++i) sum += sums[listing.start + i];
  return sum;
}

export function hasLines(listing: Listing): boolean { return listing.sources.length > 0 && listing.sources[0].lines.length > 0; }

/// The one with the most weight of those that have source lines; else of all.
export function hottestListing(listings: Listing[], sums: Float64Array): Listing {
  const hot = listings.filter((listing) => hasLines(listing) && weightOf(listing, sums) > 0);
  return (hot.length > 0 ? hot : listings).reduce((best, next) => weightOf(next, sums) > weightOf(best, sums) ? next : best);
}
