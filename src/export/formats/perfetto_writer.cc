// A Perfetto trace (https://perfetto.dev/docs/reference/trace-packet-proto): a process tree, and a
// PerfSample per sample with an interned call stack. Every event has its own packet sequence, with
// its name in the sequence's defaults; timebase_count is the running count on the CPU, so that the
// difference to the previous sample is what a sample stands for.
//
// A profile without times becomes nested slices, with a track per event (export_slices.h).
#include <protozero/pbf_writer.hpp>

#include <cmath>

#include "base/utf8.h"
#include "export/formats/export_samples.h"
#include "export/formats/export_slices.h"
#include "export/formats/export_tables.h"
#include "export/formats/export_tasks.h"
#include "export/formats/exports.h"

namespace sonde {
namespace {

// Field numbers, message by message.
constexpr uint32_t kTracePacket = 1;  // of Trace
namespace packet_field {
enum {
  kProcessTree = 2,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
  kPerfSample = 66
};
}
namespace tree_field {
enum { kProcesses = 1, kThreads = 2 };
enum { kPid = 1, kCommandLine = 3 };               // of a process
enum { kTid = 1, kThreadName = 2, kGroupId = 3 };  // of a thread
}  // namespace tree_field
namespace interned_field {
enum {
  kFunctionNames = 5,
  kFrames = 6,
  kCallstacks = 7,
  kBuildIds = 16,
  kMappingPaths = 17,
  kMappings = 19
};
enum { kId = 1 };  // of each of them
enum { kString = 2 };
enum { kMappingBuildId = 2, kMappingPath = 7 };
enum { kFrameName = 2, kFrameMapping = 3 };
enum { kCallstackFrames = 2 };
}  // namespace interned_field
namespace perf_sample_field {
enum { kCpu = 1, kPid = 2, kTid = 3, kCallstack = 4, kCpuMode = 5, kTimebaseCount = 6 };
}
namespace event_field {
enum { kType = 9, kTrack = 11, kName = 23 };
enum { kSliceBegin = 1, kSliceEnd = 2 };
enum { kUuid = 1, kTrackName = 2 };  // of a track descriptor
}  // namespace event_field
// TracePacketDefaults.perf_sample_defaults.timebase.name
constexpr uint32_t kPerfSampleDefaults = 12;
constexpr uint32_t kTimebase = 1;
constexpr uint32_t kTimebaseName = 10;
// PerfSample.cpu_mode
constexpr int32_t kModeKernel = 1;
constexpr int32_t kModeUser = 2;
// TracePacket.sequence_flags
constexpr uint32_t kStateCleared = 1;
constexpr uint32_t kNeedsState = 2;

class PerfettoWriter {
 public:
  PerfettoWriter(Sink& out, const StackProfile& profile)
      : out_(out), profile_(profile), samples_(profile), tasks_(samples_), build_ids_(profile) {}

  void write() {
    if (!samples_.has_times()) {
      for (size_t column = 0; column < profile_.columns.size(); ++column) write_slices(column);
      return;
    }
    write_process_tree();
    for (uint32_t column = 0; column < profile_.columns.size(); ++column) {
      write_tables(column);
      write_samples(column);
    }
  }

 private:
  template <typename Fill>
  static void append_packet(std::string& text, const Fill& fill) {
    protozero::pbf_writer trace(text);
    protozero::pbf_writer packet(trace, kTracePacket);
    fill(packet);
  }
  template <typename Fill>
  void write_packet(const Fill& fill) {
    std::string text;
    append_packet(text, fill);
    out_.write_lines(text);
  }
  static uint32_t sequence_of(size_t column) { return static_cast<uint32_t>(column + 1); }

  void write_process_tree() {
    std::vector<bool> is_written(tasks_.process_count());
    write_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, samples_.start_ns());
      protozero::pbf_writer tree(packet, packet_field::kProcessTree);
      for (const auto& groups : samples_.by_thread()) {
        uint32_t thread = groups.front().thread;
        auto pid = static_cast<int32_t>(tasks_.pid(thread));
        if (!is_written[tasks_.process_of(thread)]) {
          protozero::pbf_writer process(tree, tree_field::kProcesses);
          process.add_int32(tree_field::kPid, pid);
          process.add_string(tree_field::kCommandLine, to_utf8(tasks_.process_name(thread)));
        }
        is_written[tasks_.process_of(thread)] = true;
        protozero::pbf_writer made(tree, tree_field::kThreads);
        made.add_int32(tree_field::kTid, static_cast<int32_t>(tasks_.tid(thread)));
        made.add_string(tree_field::kThreadName, to_utf8(tasks_.thread_name(thread)));
        made.add_int32(tree_field::kGroupId, pid);
      }
    });
  }

  // What is interned in a sequence. Ids begin at 1.

  /// Entries per packet, so that no packet is large.
  static constexpr size_t kEntriesPerPacket = 4096;

  template <typename Fill>
  void write_interned(size_t column, size_t count, const Fill& fill) {
    for (size_t begin = 0; begin < count; begin += kEntriesPerPacket)
      write_packet([&](protozero::pbf_writer& packet) {
        packet.add_uint32(packet_field::kSequenceId, sequence_of(column));
        packet.add_uint32(packet_field::kSequenceFlags, kNeedsState);
        protozero::pbf_writer interned(packet, packet_field::kInternedData);
        for (size_t i = begin; i < std::min(count, begin + kEntriesPerPacket); ++i)
          fill(i, interned);
      });
  }
  static void add_string(protozero::pbf_writer& interned, uint32_t field, uint64_t id,
                         std::string_view text) {
    protozero::pbf_writer string(interned, field);
    string.add_uint64(interned_field::kId, id);
    string.add_bytes(interned_field::kString, to_utf8(text));
  }

  void write_tables(size_t column) {
    write_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint32(packet_field::kSequenceId, sequence_of(column));
      packet.add_uint32(packet_field::kSequenceFlags, kStateCleared | kNeedsState);
      protozero::pbf_writer defaults(packet, packet_field::kDefaults);
      protozero::pbf_writer perf(defaults, kPerfSampleDefaults);
      protozero::pbf_writer timebase(perf, kTimebase);
      timebase.add_string(kTimebaseName, to_utf8(profile_.columns[column].name));
    });
    write_mappings(column);
    write_interned(column, profile_.frames.size(), [&](size_t i, protozero::pbf_writer& interned) {
      const StackFrame& frame = profile_.frames[i];
      add_string(interned, interned_field::kFunctionNames, i + 1, profile_.text(frame.name));
      protozero::pbf_writer made(interned, interned_field::kFrames);
      made.add_uint64(interned_field::kId, i + 1);
      made.add_uint64(interned_field::kFrameName, i + 1);
      made.add_uint64(interned_field::kFrameMapping,
                      frame.object.valid() ? mapping_of_.at(frame.object.value) : kNoMapping);
    });
  }

  /// Every frame needs a mapping: the first is for those without an object.
  void write_mappings(size_t column) {
    std::vector<StringId> objects{StringId()};
    mapping_of_.clear();
    for (const StackFrame& frame : profile_.frames)
      if (frame.object.valid() &&
          mapping_of_.try_emplace(frame.object.value, objects.size() + 1).second)
        objects.push_back(frame.object);
    write_interned(column, objects.size(), [&](size_t i, protozero::pbf_writer& interned) {
      add_string(interned, interned_field::kMappingPaths, i + 1, profile_.text(objects[i]));
      std::string_view build_id = build_ids_.of(objects[i]);
      if (!build_id.empty()) add_string(interned, interned_field::kBuildIds, i + 1, build_id);
      protozero::pbf_writer mapping(interned, interned_field::kMappings);
      mapping.add_uint64(interned_field::kId, i + 1);
      if (!build_id.empty()) mapping.add_uint64(interned_field::kMappingBuildId, i + 1);
      mapping.add_uint64(interned_field::kMappingPath, i + 1);
    });
  }

  void write_callstacks(size_t column) {
    const StackSamples& samples = samples_.samples();
    std::vector<bool> is_used(profile_.nodes.size());
    for (size_t i = 0; i < samples.size(); ++i)
      if (samples.column[i] == column && samples.node[i].valid())
        is_used[samples.node[i].index()] = true;
    std::vector<uint32_t> used;
    for (uint32_t node = 0; node < is_used.size(); ++node)
      if (is_used[node]) used.push_back(node);
    StackWalk walk(profile_);
    write_interned(column, used.size(), [&](size_t i, protozero::pbf_writer& interned) {
      protozero::pbf_writer stack(interned, interned_field::kCallstacks);
      stack.add_uint64(interned_field::kId, used[i] + 1);
      for (uint32_t frame : walk.from_root(StackNodeId(used[i])))
        stack.add_uint64(interned_field::kCallstackFrames, frame + 1);
    });
  }

  void write_samples(uint32_t column) {
    write_callstacks(column);
    const StackSamples& samples = samples_.samples();
    tsl::robin_map<uint32_t, double> counted;  // by CPU
    std::string text;
    for (size_t i = 0; i < samples.size(); ++i) {
      if (samples.column[i] != column) continue;
      double count = counted[samples.cpu[i]] += samples.value[i];
      append_sample(text, i, static_cast<uint64_t>(std::llround(count)));
      constexpr size_t kWriteAt = 64 * 1024;
      if (text.size() < kWriteAt) continue;
      out_.write_lines(text);
      text.clear();
    }
    out_.write_lines(text);
  }
  void append_sample(std::string& text, size_t i, uint64_t count) const {
    const StackSamples& samples = samples_.samples();
    append_packet(text, [&](protozero::pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, samples.time_ns[i]);
      packet.add_uint32(packet_field::kSequenceId, sequence_of(samples.column[i]));
      packet.add_uint32(packet_field::kSequenceFlags, kNeedsState);
      protozero::pbf_writer sample(packet, packet_field::kPerfSample);
      if (samples.cpu[i] != UINT32_MAX) sample.add_uint32(perf_sample_field::kCpu, samples.cpu[i]);
      sample.add_uint32(perf_sample_field::kPid, tasks_.pid(samples.thread[i]));
      sample.add_uint32(perf_sample_field::kTid, tasks_.tid(samples.thread[i]));
      sample.add_uint64(perf_sample_field::kTimebaseCount, count);
      if (!samples.node[i].valid()) return;
      bool is_kernel = profile_.frame_of(samples.node[i]).kind == FrameKind::kKernel;
      sample.add_int32(perf_sample_field::kCpuMode, is_kernel ? kModeKernel : kModeUser);
      sample.add_uint64(perf_sample_field::kCallstack, samples.node[i].value + 1);
    });
  }

  // Slices.

  void write_slices(size_t column) {
    uint64_t track = column + 1;
    write_packet([&](protozero::pbf_writer& packet) {
      packet.add_uint32(packet_field::kSequenceId, sequence_of(column));
      packet.add_uint32(packet_field::kSequenceFlags, kStateCleared);
      protozero::pbf_writer descriptor(packet, packet_field::kTrackDescriptor);
      descriptor.add_uint64(event_field::kUuid, track);
      descriptor.add_string(event_field::kTrackName, to_utf8(profile_.columns[column].name));
    });
    ExportSlices slices(profile_, column);
    std::vector<size_t> open;
    std::string text;
    auto end_before = [&](size_t node) {
      while (!open.empty() && profile_.nodes[open.back()].end <= node) {
        append_event(text, column, event_field::kSliceEnd, slices.end_ns(open.back()), {});
        open.pop_back();
      }
    };
    for (size_t node = 0; node < profile_.nodes.size(); ++node) {
      end_before(node);
      if (slices.total(node) == 0) continue;
      append_event(text, column, event_field::kSliceBegin, slices.begin_ns(node),
                   profile_.name_of(StackNodeId(node)));
      open.push_back(node);
      out_.write_lines(text);
      text.clear();
    }
    end_before(profile_.nodes.size());
    out_.write_lines(text);
  }
  static void append_event(std::string& text, size_t column, int32_t type, uint64_t time,
                           std::string_view name) {
    append_packet(text, [&](protozero::pbf_writer& packet) {
      packet.add_uint64(packet_field::kTimestamp, time);
      packet.add_uint32(packet_field::kSequenceId, sequence_of(column));
      protozero::pbf_writer event(packet, packet_field::kTrackEvent);
      event.add_int32(event_field::kType, type);
      event.add_uint64(event_field::kTrack, column + 1);
      if (!name.empty()) event.add_string(event_field::kName, to_utf8(name));
    });
  }

  static constexpr uint64_t kNoMapping = 1;

  Sink& out_;
  const StackProfile& profile_;
  ExportSamples samples_;
  ExportTasks tasks_;
  ObjectBuildIds build_ids_;
  tsl::robin_map<uint32_t, uint64_t> mapping_of_;  // by object
};

}  // namespace

void export_perfetto(Sink& out, const StackProfile& profile) {
  PerfettoWriter(out, profile).write();
}

}  // namespace sonde
