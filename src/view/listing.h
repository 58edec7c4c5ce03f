// Listing: the code of a function with the samples on each instruction, interleaved with source
// lines: plain data, for text output and screens.
//
//       samples      5.70 :   129a:   cvtsi2sd %ebx,%xmm1        an instruction
//                         : 19   d += sqrt((double)i) / i;       a line of its source
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sonde::view {

struct ListingHits {
  uint64_t samples = 0;
  uint64_t period = 0;
};

enum class ListingKind : uint8_t { kText, kSource, kInstruction };
enum class ListingFlow : uint8_t { kOn, kJump, kCall, kReturn };

/// What branch stacks say about an instruction: 0 where they say nothing.
struct ListingBranches {
  double joined = 0;     // percent: of the runs up to the next branch, those that a branch led here
  double left = 0;       // percent: of the runs that get here, those that leave with this branch
  double predicted = 0;  // percent of those that leave
  double ipc = 0;        // instructions per cycle of its block
  uint64_t cycles = 0;   // of the block that ends here, on average
  uint64_t least_cycles = 0, most_cycles = 0;
  std::string counters = {};  // events in the block that ends here: "|AA  |-   |"
};

struct ListingLine {
  ListingKind kind = ListingKind::kText;
  uint32_t number = 0;    // source line number; for other lines, a running number
  uint64_t address = 0;   // of an instruction
  std::string text = {};  // without tabs, trimmed
  ListingFlow flow = ListingFlow::kOn;
  std::optional<uint64_t> target = {};  // of a direct jump or call, or of an operand's reference
  std::string target_name = {};         // "sqrt@plt", "table+0x8"; empty if there is none
  std::string place = {};               // -l: "spin.c:19", for lines with hits
  std::string data_type = {};           // "struct node +0x8 (next)": what it accesses
  ListingBranches branches = {};
};

/// The data of one event.
struct ListingEvent {
  std::string name;
  ListingHits function;   // all hits in the function
  ListingHits recording;  // all hits of the event
};

/// -l: the hits on a source line, in percent per event.
struct ListingPlace {
  std::string place;
  std::vector<double> percents;
};

/// The value that a column of a listing shows.
enum class ListingPercent : uint8_t { kLocalPeriod, kLocalHits, kGlobalPeriod, kGlobalHits };

struct Listing {
  std::string function;
  std::string object;  // as in the heading: short, or a path
  std::string path;    // of the object
  uint64_t start = 0, end = 0;
  std::string events_name;  // "cycles", "anon group { cycles, instructions }"
  std::string frequency;    // ", 4000 Hz": the event's sampling frequency; empty if it had none
  std::vector<ListingEvent> events;
  std::vector<ListingHits> shown;  // per event: all hits considered, for headings
  std::vector<ListingLine> lines;
  std::vector<ListingHits> hits;  // one per line and event
  std::vector<ListingPlace> places;
  bool has_cycles = false;          // branches were recorded with cycles
  double average_ipc = 0;           // of the blocks whose instructions are known
  double ipc_coverage = 0;          // percent: instructions in such blocks
  size_t counter_width = 0;         // of ListingBranches::counters; 0: there are no branch counters
  std::string counter_legend = {};  // lines that say what the letters are

  [[nodiscard]] std::span<const ListingHits> hits_of(size_t line) const {
    return std::span(hits).subspan(line * events.size(), events.size());
  }
  /// The share of one event's hits.
  [[nodiscard]] double percent(const ListingHits& of, size_t event, ListingPercent type) const {
    const ListingEvent& all = events[event];
    bool is_local = type == ListingPercent::kLocalPeriod || type == ListingPercent::kLocalHits;
    bool is_period = type == ListingPercent::kLocalPeriod || type == ListingPercent::kGlobalPeriod;
    const ListingHits& whole = is_local ? all.function : all.recording;
    uint64_t total = is_period ? whole.period : whole.samples;
    uint64_t part = is_period ? of.period : of.samples;
    return total == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(total);
  }
};

}  // namespace sonde::view
