// PlaceFinder: the places in the code that a definition selects, from debug information.
//
// A function is selected where it is entered: where its code begins, and where each inlined copy of
// it does. A line is selected at each address where one of its statements begins.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "probe/requested_probe.h"
#include "probe/source/variable_fetch.h"

namespace sonde {

struct FoundPlaces {
  std::vector<ProbeSite> places;  // each address once
  /// What makes a place unusable, if any was: "a.c:20 shares its address with a.c:18".
  std::string obstacle;
  /// Places after the instructions that set up a frame: debug information of unoptimised code
  /// is wrong before.
  bool skipped_prologue = false;

  /// Refuses more places than `--max-probes` says.
  [[nodiscard]] Result<> check_number(const RequestedProbe& request, const ProbedCode& code,
                                      const PlanOptions& options) const;
};

class PlaceFinder {
 public:
  PlaceFinder(const RequestedProbe& request, const ProbedCode& code, DebugCode& debug)
      : request_(request), code_(code), debug_(debug) {}

  /// `no_inlines`: not where functions were inlined. Empty if nothing has that name.
  FoundPlaces find(bool no_inlines);

 private:
  void find_functions(SourceUnit& unit, std::span<const uint32_t> named);
  void find_function(SourceUnit& unit, uint32_t node);
  void find_line(SourceUnit& unit, const std::string& file, uint32_t line);
  void find_pattern(SourceUnit& unit, const std::string& file, uint32_t function);
  void find_address(uint64_t address);
  void add(SourceUnit& unit, uint64_t address, uint32_t scope);
  [[nodiscard]] uint32_t scope_of_line(SourceUnit& unit, uint64_t address, const std::string& file,
                                       uint32_t line);
  [[nodiscard]] bool wants_variables() const;
  [[nodiscard]] bool is_optimised(SourceUnit& unit, uint32_t function) const;
  uint64_t behind_prologue(SourceUnit& unit, uint32_t function);
  std::vector<uint32_t> lines_matching(const std::string& path, std::string_view directory);

  const RequestedProbe& request_;
  const ProbedCode& code_;
  DebugCode& debug_;
  bool no_inlines_ = false;
  std::set<uint64_t> addresses_;
  FoundPlaces found_;
};

}  // namespace sonde
