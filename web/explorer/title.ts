// What a page is called if nobody gave it a title: the program, when and how long it was recorded, the file.

import { Profile } from "./data.js";
import { fileName, weight } from "./text.js";

function factOf(profile: Profile, name: string): string {
  return profile.facts.find(([known]) => known === name)?.[1] ?? "";
}

/// The command that was recorded; or the process with the most samples, if processes were recorded that
/// ran anyway.
function programOf(profile: Profile): string {
  const [ofRecorder, command] = factOf(profile, "command line").split(/ -- (.*)/);
  const isOfAll = /(?:^| )(?:-a|--all-cpus|-C|--cpu|-p|--pid|-t|--tid)(?:[ =\d]|$)/.test(ofRecorder);
  if (command && !isOfAll) return fileName(command.split(" ")[0]);
  const counts = new Map<string, number>();
  const { samples, threads } = profile;
  if (!samples) return "";
  for (let i = 0; i < samples.count; ++i) {
    const { pid, process, name } = threads[samples.thread[i]];
    if (pid !== 0) counts.set(process || name, (counts.get(process || name) ?? 0) + 1);  // 0: idle
  }
  return [...counts].reduce((most, next) => next[1] > most[1] ? next : most, ["", 0])[0];
}

export function titleOf(profile: Profile): string {
  const { title, samples } = profile;
  if (profile.compared.length > 0 || title !== factOf(profile, "file")) return title;
  const last = samples && samples.count > 0 ? samples.time[samples.count - 1] : 0;
  const parts = [programOf(profile), factOf(profile, "recorded"), last > 0 ? weight(last, "microseconds") : "", title];
  return parts.filter((part, i) => part !== "" && parts.indexOf(part) === i).join(" · ");
}
