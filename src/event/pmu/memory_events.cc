#include "event/pmu/memory_events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

constexpr MemoryOperations kLoads{true, false};
constexpr MemoryOperations kStores{false, true};

}  // namespace

Result<MemoryOperations> parse_memory_operations(std::string_view words) {
  MemoryOperations chosen{false, false};
  while (true) {
    size_t end = std::min(words.find(','), words.size());
    std::string_view word = words.substr(0, end);
    if (word == "load")
      chosen.loads = true;
    else if (word == "store")
      chosen.stores = true;
    else
      return fail(ErrorCode::kUsage, "expects load, store or load,store, not '{}'", word);
    if (end == words.size()) return chosen;
    words.remove_prefix(end + 1);
  }
}

std::vector<MemoryEvent> memory_events(unsigned load_latency, const std::string& devices) {
  auto has = [&devices](std::string_view path) {
    return ::access(fmt::format("{}/{}", devices, path).c_str(), F_OK) == 0;
  };
  std::vector<MemoryEvent> events;
  // Hybrid machines have a PMU per type of core.
  for (std::string_view pmu : {"cpu", "cpu_core", "cpu_atom"}) {
    std::string suffix = pmu == "cpu" ? "" : fmt::format(":{}", pmu);
    // Some cores only sample loads in a group behind an auxiliary event.
    if (has(fmt::format("{}/events/mem-loads-aux", pmu)))
      events.push_back(
          {"ldlat-loads" + suffix,
           fmt::format("{{{0}/mem-loads-aux/,{0}/mem-loads,ldlat={1}/pp}}:P", pmu, load_latency),
           kLoads});
    else if (has(fmt::format("{}/format/ldlat", pmu)) &&
             has(fmt::format("{}/events/mem-loads", pmu)))
      events.push_back({"ldlat-loads" + suffix,
                        fmt::format("{}/mem-loads,ldlat={}/P", pmu, load_latency), kLoads});
    else if (has(fmt::format("{}/events/mem-loads", pmu)))  // POWER
      events.push_back({"mem-loads" + suffix, fmt::format("{}/mem-loads/", pmu), kLoads});
    if (has(fmt::format("{}/events/mem-stores", pmu))) {
      bool is_precise = has(fmt::format("{}/format/ldlat", pmu));
      events.push_back({(is_precise ? "ldlat-stores" : "mem-stores") + suffix,
                        fmt::format("{}/mem-stores/{}", pmu, is_precise ? "P" : ""), kStores});
    }
  }
  if (has("ibs_op"))
    events.push_back(
        {"mem-ldst",
         has("ibs_op/format/ldlat") ? fmt::format("ibs_op/ldlat={}/", load_latency) : "ibs_op//",
         {}});
  if (has("arm_spe_0")) {
    auto spe = [&](std::string_view name, int loads, int stores, MemoryOperations operations) {
      events.push_back({std::string(name),
                        fmt::format("arm_spe_0/ts_enable=1,pa_enable=1,load_filter={},store_filter="
                                    "{},min_latency={}/",
                                    loads, stores, loads != 0 ? load_latency : 0),
                        operations});
    };
    spe("spe-load", 1, 0, kLoads);
    spe("spe-store", 0, 1, kStores);
    spe("spe-ldst", 1, 1, {});
  }
  return events;
}

Result<std::vector<MemoryEvent>> choose_memory_events(std::span<const MemoryEvent> available,
                                                      MemoryOperations wanted) {
  if (wanted.loads && wanted.stores)
    for (const MemoryEvent& event : available)
      if (event.operations.loads && event.operations.stores) return std::vector<MemoryEvent>{event};
  std::vector<MemoryEvent> chosen;
  MemoryOperations covered{false, false};
  auto take = [&](const MemoryEvent& event) {
    chosen.push_back(event);
    covered.loads |= event.operations.loads;
    covered.stores |= event.operations.stores;
  };
  for (const MemoryEvent& event : available)
    if (event.operations.loads != event.operations.stores &&
        ((wanted.loads && event.operations.loads) || (wanted.stores && event.operations.stores)))
      take(event);
  if (chosen.empty())
    for (const MemoryEvent& event : available)
      if (chosen.empty()) take(event);
  if ((wanted.loads && !covered.loads) || (wanted.stores && !covered.stores))
    return fail(
        ErrorCode::kFailed,
        "memory events not supported: this machine has none that samples {} (Intel: "
        "cpu/mem-loads/ and cpu/mem-stores/, AMD: ibs_op//, Arm: arm_spe_0//); -e takes any "
        "event with addresses, such as page-faults",
        wanted.loads && !covered.loads ? "loads" : "stores");
  return chosen;
}

}  // namespace sonde
