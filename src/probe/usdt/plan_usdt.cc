#include "probe/usdt/plan_usdt.h"

#include <algorithm>

#include "base/nearest_names.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "event/parser/event_error.h"
#include "probe/events/probe_cache.h"
#include "probe/usdt/sdt_cache.h"

namespace sonde {
namespace {

ProbePlan usdt_plan(SdtProbe probe) {
  ProbePlan plan;
  plan.group = fmt::format("sdt_{}", probe.provider);
  plan.event = probe.name;
  plan.function = fmt::format("%{}", probe.name);
  plan.place = std::move(probe.place);
  for (const std::string& operand : probe.not_fetched)
    plan.notes.push_back(fmt::format("{}:{}: the kernel cannot fetch the argument {}", plan.group,
                                     plan.event, operand));
  return plan;
}

ProbePlan cached_plan(const CachedProbe& cached) {
  ProbePlan plan;
  plan.group = cached.event.system;
  plan.event = cached.event.name;
  plan.function = fmt::format("%{}", cached.event.name);
  plan.place = cached.place;
  return plan;
}

struct FoundProbes {
  std::vector<ProbePlan> plans;
  std::vector<std::string> others;     // names that do not match
  std::vector<std::string> not_plain;  // names that match, but that no event can have
  std::string their_object;            // of the first of those
};

void look_into(const RequestedProbe& request, const ElfFile& elf, const std::string& path,
               FoundProbes& found) {
  std::string provider = request.sdt_provider.empty() ? "*" : request.sdt_provider;
  for (SdtProbe& probe : find_sdt_probes(elf, path, "*", "*")) {
    bool matches = glob_match(provider, probe.provider) && glob_match(request.sdt_name, probe.name);
    if (matches && probe.has_plain_name()) {
      found.plans.push_back(usdt_plan(std::move(probe)));
    } else if (matches) {
      if (found.not_plain.empty()) found.their_object = path;
      found.not_plain.push_back(probe.event_name());
    } else if (probe.has_plain_name()) {
      found.others.push_back(probe.event_name());
    }
  }
}

bool selects_cached(const RequestedProbe& request, const CachedProbe& cached) {
  if (!glob_match(request.sdt_name, cached.event.name)) return false;
  return request.sdt_provider.empty() || glob_match(request.sdt_provider, cached.event.system);
}

}  // namespace

Result<std::vector<ProbePlan>> plan_usdt(const RequestedProbe& request, const UsdtSearch& search) {
  FoundProbes found;
  std::vector<ProbePlan>& plans = found.plans;
  std::string shown = request.sdt_provider.empty()
                          ? fmt::format("%{}", request.sdt_name)
                          : fmt::format("sdt_{}:{}", request.sdt_provider, request.sdt_name);
  for (const CachedProbe& cached : read_probe_cache(search.buildid_dir))
    if (selects_cached(request, cached) &&
        (search.object.empty() || search.object == cached.place.object) && cached.is_current())
      plans.push_back(cached_plan(cached));
  if (!search.object.empty()) {
    ElfFile elf = TRY(ElfFile::open(search.file.empty() ? search.object : search.file));
    look_into(request, elf, search.object, found);
  } else {
    std::vector<std::string> done;
    for (const SdtCacheEntry& entry : read_sdt_cache(search.buildid_dir)) {
      std::string_view name = entry.name;
      name.remove_prefix(std::min(name.size(), name.find(':') + 1));
      if (!glob_match(request.sdt_name, name) || !is_still_there(entry) ||
          std::ranges::find(done, entry.object) != done.end())
        continue;
      done.push_back(entry.object);
      if (Result<ElfFile> elf = ElfFile::open(entry.object))
        look_into(request, *elf, entry.object, found);
    }
  }
  if (!found.not_plain.empty()) {
    Error error = names_not_plain(found.their_object, found.not_plain);
    if (plans.empty()) return std::unexpected(std::move(error));
    plans.front().notes.push_back(std::move(error.message));
  }
  if (!plans.empty()) return plans;
  std::string nearest = did_you_mean(nearest_names(shown, found.others));
  std::ranges::replace(nearest, '\n', ' ');
  if (search.object.empty())
    return fail(ErrorCode::kNotFound,
                "no probe {} in the build-id cache: name the object with -x, or register it with "
                "'buildid-cache --add PATH'{}{}",
                shown, nearest.empty() ? "" : "; ", nearest);
  return fail(ErrorCode::kNotFound, "{} has no probe {}: 'list sdt_*:*@{}' shows those it has{}{}",
              search.object, shown, search.object, nearest.empty() ? "" : "; ", nearest);
}

}  // namespace sonde
