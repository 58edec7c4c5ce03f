// What an event term tells a BPF program's map to hold:
//
//   map:channel.event=evt            the descriptors of event evt, one per CPU, for
//                                    bpf_perf_event_output() and bpf_perf_event_read()
//   map:limits.value=7               7 everywhere in an array
//   map:limits.value[0,2-4]=7        7 at these indexes; 2...4 is the same as 2-4
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sonde {

struct MapSetting {
  std::string map;
  std::string event = {};              // for .event
  std::optional<uint64_t> value = {};  // for .value
  /// First and last index of each range; empty: all.
  std::vector<std::pair<uint32_t, uint32_t>> indexes = {};

  [[nodiscard]] bool covers(uint32_t index) const;
  bool operator==(const MapSetting&) const = default;
};

/// `name` is the term's name, "map:limits.value[0,2-4]"; `value` is what follows its '='.
Result<MapSetting> parse_map_setting(std::string_view name, std::string_view value);

}  // namespace sonde
