// TypeProfile: the samples of a recording by the data types that they touched, and by the offset
// into these.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "datatype/session_types.h"
#include "view/data_layout.h"

namespace sonde::datatype {

class TypeProfile {
 public:
  /// Counts the samples at locations that `wanted` accepts; it is called once per location.
  TypeProfile(const Session& session, SessionTypes& types,
              const std::function<bool(const Frame&)>& wanted);

  /// Layouts of the types that `events[0]` touched and `named` accepts, most samples first.
  [[nodiscard]] std::vector<view::DataLayout> layouts(
      std::span<const EventId> events, const std::function<bool(std::string_view)>& named);
  /// How much is known, for one event.
  [[nodiscard]] view::DataTypeCounts counts(EventId event) const;
  /// The same by instruction, most samples first. Excludes samples without code.
  [[nodiscard]] std::vector<view::InstructionCounts> instructions(EventId event) const;
  /// The total of an event, in its own unit.
  [[nodiscard]] uint64_t period(EventId event) const { return periods_[event.index()]; }

 private:
  using Hits = std::vector<view::ListingHits>;  // by event
  struct Touched {
    ObjectData* object = nullptr;
    DataTypeId type;
    uint64_t size = 0;
    Hits totals;
    std::map<uint64_t, Hits> offsets;
  };
  struct Key {
    DsoId dso;
    std::string name;
    uint64_t size;
    auto operator<=>(const Key&) const = default;
  };
  class LayoutBuilder;

  void add(const Frame& frame, const FoundAccess& found, std::span<const view::ListingHits> hits);

  struct Place {
    size_t frame;
    AccessKind kind;
  };

  const Session& session_;
  SessionTypes& types_;
  std::vector<view::ListingHits> hits_;  // by frame and event
  std::vector<Place> places_;            // frames with samples
  std::map<Key, Touched> touched_;
  std::vector<std::array<uint64_t, kAccessKinds>> kinds_;  // samples, by event
  std::vector<uint64_t> periods_;
};

}  // namespace sonde::datatype
