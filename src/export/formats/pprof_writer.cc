// profile.proto of pprof (https://github.com/google/pprof/blob/main/proto/profile.proto), gzip.
//
// Each event has two values, named as in the perf.data converters: the number of samples
// (cycles_sample) and what they stand for (cycles_event). Sums from folded stacks only have the
// second. A frame is a location, with its address (pprof_mappings.h); samples carry pid, tid and
// comm as labels, the name that the thread had then.
#include <protozero/pbf_writer.hpp>

#include <cmath>
#include <map>
#include <tuple>

#include "base/utf8.h"
#include "base/version.h"
#include "export/formats/export_tables.h"
#include "export/formats/exports.h"
#include "export/formats/gzip_sink.h"
#include "export/formats/pprof_mappings.h"
#include "export/formats/thread_totals.h"

namespace sonde {
namespace {

// Field numbers, message by message.
namespace profile_field {
enum {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStrings = 6,
  kDurationNanos = 10,
  kComment = 13,
  kDefaultSampleType = 14
};
}
namespace value_type_field {
enum { kType = 1, kUnit = 2 };
}
namespace sample_field {
enum { kLocationId = 1, kValue = 2, kLabel = 3 };
}
namespace label_field {
enum { kKey = 1, kString = 2, kNumber = 3 };
}
namespace mapping_field {
enum {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9
};
}
namespace location_field {
enum { kId = 1, kMappingId = 2, kAddress = 3, kLine = 4 };
}
namespace line_field {
enum { kFunctionId = 1, kLine = 2 };
}
namespace function_field {
enum { kId = 1, kName = 2, kSystemName = 3, kFilename = 4, kStartLine = 5 };
}

class PprofWriter {
 public:
  PprofWriter(Sink& out, const StackProfile& profile)
      : out_(out), profile_(profile), samples_(profile), strings_(profile), mappings_(profile) {}

  void write() {
    strings_.number_of("");  // must be the first
    write_head();
    write_mappings();
    for (size_t i = 0; i < profile_.frames.size(); ++i) write_frame(i);
    if (has_stackless()) write_unknown();
    write_samples();
    write_strings();
    out_.finish();
  }

 private:
  // Ids begin at 1.
  [[nodiscard]] uint64_t unknown_id() const { return profile_.frames.size() + 1; }
  [[nodiscard]] bool has_stackless() const {
    return std::ranges::any_of(samples_.samples().node,
                               [](StackNodeId node) { return !node.valid(); });
  }

  template <typename Fill>
  static std::string message(uint32_t tag, const Fill& fill) {
    std::string bytes;
    protozero::pbf_writer outer(bytes);
    {
      protozero::pbf_writer inner(outer, tag);
      fill(inner);
    }
    return bytes;
  }

  void write_value_type(std::string_view type, std::string_view unit) {
    out_.write(message(profile_field::kSampleType, [&](protozero::pbf_writer& made) {
      made.add_int64(value_type_field::kType, strings_.number_of(type));
      made.add_int64(value_type_field::kUnit, strings_.number_of(unit));
    }));
  }
  static std::string event_type(const StackColumn& column) {
    return fmt::format("{}_event", column.name);
  }
  void write_head() {
    for (const StackColumn& column : profile_.columns) {
      if (samples_.has_times()) write_value_type(fmt::format("{}_sample", column.name), "count");
      std::string_view unit = column.unit;
      if (unit == "events" || unit == "samples") unit = "count";
      write_value_type(event_type(column), unit);
    }
    std::string bytes;
    protozero::pbf_writer head(bytes);
    if (samples_.has_times())
      head.add_int64(profile_field::kDurationNanos,
                     static_cast<int64_t>(samples_.end_ns() - samples_.start_ns()));
    head.add_int64(profile_field::kComment,
                   strings_.number_of(fmt::format("sonde {}", sonde_version())));
    if (!profile_.columns.empty())
      head.add_int64(profile_field::kDefaultSampleType,
                     strings_.number_of(event_type(profile_.columns.front())));
    out_.write(bytes);
  }

  void write_mappings() {
    ObjectBuildIds build_ids(profile_);
    for (const PprofMapping& made : mappings_.all()) {
      std::string_view build_id = build_ids.of(made.object);
      out_.write(message(profile_field::kMapping, [&](protozero::pbf_writer& mapping) {
        mapping.add_uint64(mapping_field::kId, made.id);
        if (made.limit > 0) {
          mapping.add_uint64(mapping_field::kMemoryStart, made.start);
          mapping.add_uint64(mapping_field::kMemoryLimit, made.limit);
        }
        mapping.add_int64(mapping_field::kFilename, strings_.number_of(made.object));
        if (!build_id.empty())
          mapping.add_int64(mapping_field::kBuildId, strings_.number_of(build_id));
        // So that readers don't try to symbolize: all that is known is here.
        mapping.add_bool(mapping_field::kHasFunctions, true);
        mapping.add_bool(mapping_field::kHasFilenames, true);
        mapping.add_bool(mapping_field::kHasLineNumbers, true);
      }));
    }
  }

  void write_frame(size_t i) {
    const StackFrame& frame = profile_.frames[i];
    uint32_t line = frame.file.valid() ? frame.line : 0;
    uint32_t name = strings_.number_of(frame.name), file = strings_.number_of(frame.file);
    // Locations in one function share it.
    auto [function, is_new] = function_of_.try_emplace({name, file, frame.object.value}, i + 1);
    if (is_new) write_function(i + 1, name, file, line);
    write_location(i + 1, function->second, mappings_.place_of(frame), line);
  }
  void write_unknown() {
    write_function(unknown_id(), strings_.number_of("[unknown]"), 0, 0);
    write_location(unknown_id(), unknown_id(), {}, 0);
  }
  void write_function(uint64_t id, uint32_t name, uint32_t file, uint32_t line) {
    out_.write(message(profile_field::kFunction, [&](protozero::pbf_writer& function) {
      function.add_uint64(function_field::kId, id);
      function.add_int64(function_field::kName, name);
      function.add_int64(function_field::kSystemName, name);
      if (file != 0) function.add_int64(function_field::kFilename, file);
      if (line != 0) function.add_int64(function_field::kStartLine, line);
    }));
  }
  void write_location(uint64_t id, uint64_t function, PprofPlace place, uint32_t at) {
    out_.write(message(profile_field::kLocation, [&](protozero::pbf_writer& location) {
      location.add_uint64(location_field::kId, id);
      if (place.mapping != 0) location.add_uint64(location_field::kMappingId, place.mapping);
      if (place.address != 0) location.add_uint64(location_field::kAddress, place.address);
      protozero::pbf_writer line(location, location_field::kLine);
      line.add_uint64(line_field::kFunctionId, function);
      if (at != 0) line.add_int64(line_field::kLine, at);
    }));
  }

  // Samples.

  void write_samples() {
    constexpr size_t kRowsAtATime = 64 * 1024;
    ThreadTotals sums(profile_, samples_);
    for (const auto& thread : samples_.by_thread()) {
      sums.add(thread);
      if (sums.rows().size() < kRowsAtATime) continue;
      write_rows(sums);
      sums.clear();
    }
    write_rows(sums);
  }

  void write_rows(const ThreadTotals& sums) {
    if (samples_.has_times())
      for (const ThreadTotals::Row& row : sums.rows()) (void)labels_of(row.thread);
    write_in_pieces(out_, sums.rows().size(), [&] {
      return [&, walk = StackWalk(profile_), values = std::vector<int64_t>()](
                 size_t i, std::string& text) mutable {
        const ThreadTotals::Row& row = sums.rows()[i];
        values.clear();
        for (size_t column = 0; column < profile_.columns.size(); ++column) {
          if (samples_.has_times()) values.push_back(static_cast<int64_t>(sums.count(i, column)));
          values.push_back(std::llround(sums.value(i, column)));
        }
        append_row(row, values, walk, text);
      };
    });
  }
  void append_row(const ThreadTotals::Row& row, const std::vector<int64_t>& values, StackWalk& walk,
                  std::string& text) const {
    protozero::pbf_writer outer(text);
    protozero::pbf_writer sample(outer, profile_field::kSample);
    {
      protozero::packed_field_uint64 locations(sample, sample_field::kLocationId);
      if (!row.node.valid()) locations.add_element(unknown_id());
      for (uint32_t frame : walk.from_leaf(row.node)) locations.add_element(frame + 1);
    }
    sample.add_packed_int64(sample_field::kValue, values.begin(), values.end());
    if (samples_.has_times()) text += labels_[row.thread];
  }

  /// Per thread, made on first use.
  const std::string& labels_of(uint32_t index) {
    if (labels_.size() <= index) labels_.resize(profile_.threads.size());
    std::string& labels = labels_[index];
    if (!labels.empty()) return labels;
    const StackThread& thread = samples_.thread(index);
    labels = number_label("pid", thread.pid) + number_label("tid", thread.tid);
    labels += message(sample_field::kLabel, [&](protozero::pbf_writer& label) {
      label.add_int64(label_field::kKey, strings_.number_of("comm"));
      label.add_int64(label_field::kString, strings_.number_of(samples_.thread_name(index)));
    });
    return labels;
  }
  std::string number_label(std::string_view key, uint32_t number) {
    return message(sample_field::kLabel, [&](protozero::pbf_writer& label) {
      label.add_int64(label_field::kKey, strings_.number_of(key));
      label.add_int64(label_field::kNumber, number);
    });
  }

  void write_strings() {
    std::string bytes;
    protozero::pbf_writer strings(bytes);
    for (size_t i = 0; i < strings_.size(); ++i)
      strings.add_string(profile_field::kStrings, to_utf8(strings_.text(i)));
    out_.write(bytes);
  }

  GzipSink out_;
  const StackProfile& profile_;
  ExportSamples samples_;
  ExportStrings strings_;
  PprofMappings mappings_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> function_of_;  // name, file, object
  std::vector<std::string> labels_;                                           // by thread
};

}  // namespace

void export_pprof(Sink& out, const StackProfile& profile) {
  PprofWriter(out, profile).write();
}

}  // namespace sonde
