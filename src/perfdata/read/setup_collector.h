// Gathers what a recording says about itself along the way: records that describe events and
// features (all of them in a pipe, some in a file), into the event table and the features.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "base/loss.h"
#include "perfdata/header/event_table.h"
#include "perfdata/header/features.h"
#include "perfdata/records/record.h"

namespace sonde {

class SetupCollector {
 public:
  SetupCollector(EventTable& events, Features& features, LossLedger& losses)
      : events_(&events), features_(&features), losses_(&losses) {}

  /// Attrs and tracing data arrive as records only in a pipe.
  void set_pipe(bool is_pipe) { is_pipe_ = is_pipe; }
  /// How many bytes after a record belong to it (AUXTRACE; TRACING_DATA in a pipe); 0 for others.
  [[nodiscard]] uint64_t trailing_size(const RecordView& record) const;
  /// Applies a record of a type from 64 on; those that describe nothing are ignored.
  void apply(const RecordView& record, Bytes trailing);
  /// A section of the header, or the content of a FEATURE record.
  void add_feature(uint32_t bit, Bytes content, ByteOrder order);
  void add_tracepoint_name(uint64_t config, std::string_view name);
  /// Assigns names and groups to the events, from everything seen so far. May be called again;
  /// returns false if nothing new has arrived since the last call.
  bool finalize();

 private:
  void apply_attr(const RecordView& record);
  void apply_build_id(const RecordView& record);
  void apply_update(const RecordView& record);
  void apply_id_index(const RecordView& record);
  void decode(uint32_t bit, Bytes content, ByteOrder order);
  using SimpleperfNames = std::map<std::pair<uint64_t, uint64_t>, std::string_view>;
  [[nodiscard]] SimpleperfNames simpleperf_names() const;
  void name_event(EventDesc& event, size_t index, const SimpleperfNames& simpleperf);
  void set_groups();
  [[nodiscard]] std::string tracepoint_name(uint64_t config);

  EventTable* events_;
  Features* features_;
  LossLedger* losses_;
  bool is_pipe_ = false;
  bool dirty_ = true;
  std::vector<bool> named_;  // by the recording itself, not derived from the attr
  tsl::robin_map<uint64_t, std::string, NumberHash> tracepoint_names_;
  bool tracing_data_read_ = false;
  /// Build id, path, pid, inode (0: of any file) of what is among the features.
  std::set<std::tuple<std::string, std::string, int32_t, uint64_t>> build_ids_;
};

}  // namespace sonde
