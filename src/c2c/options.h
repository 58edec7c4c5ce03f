// What `c2c report` is asked for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/session.h"
#include "report/options.h"

namespace sonde::c2c {

/// By which loads lines are chosen, ordered and weighed.
enum class Display : uint8_t { kAllHitm, kLocalHitm, kRemoteHitm, kPeer };
/// "tot", "lcl", "rmt", "peer".
Result<Display> parse_display(std::string_view word);

/// What rows of a line differ in, besides the offset.
enum class RowField : uint8_t { kPid, kTid, kCode, kObject };
/// "pid,tid,iaddr,dso" in any order.
Result<std::vector<RowField>> parse_row_fields(std::string_view words);

/// What the last column says about each node: its number; the CPUs' count and their share of loads
/// and stores; or the list of CPUs.
enum class NodeInfo : uint8_t { kNumber, kShares, kCpus };

struct Options {
  Display display = Display::kAllHitm;
  std::vector<RowField> fields = {RowField::kCode};
  NodeInfo node_info = NodeInfo::kNumber;
  bool only_counts = false;   // --stats
  bool show_all = false;      // also lines with hardly any of the loads
  bool full_symbols = false;  // else cut to 30 characters
  bool source_lines = true;
  uint64_t line_bytes = 64;
  report::CallGraphOptions call_graph = {};
};

/// -g branch: sets the options of the session, so that chains begin with the branches taken.
void choose_branch_history(const Options& o, const EventTable& events, SessionOptions& session);
/// Whether the recording allows that: it has branches, and no copied stacks.
Result<> check_branch_history(const Options& o, const Session& session);

}  // namespace sonde::c2c
