// OpenTelemetry profiles: ProfilesData of opentelemetry.proto.profiles.v1development, as of the
// public alpha of March 2026 (docs/exports.md lists the field numbers). The format still changes.
//
// A resource is a process, a profile an event, and a sample the weight of a stack in a thread. The
// shared tables, the dictionary, follow in pieces: protobuf readers merge them.
#include <protozero/pbf_writer.hpp>

#include <cmath>

#include "base/utf8.h"
#include "base/version.h"
#include "export/formats/export_tables.h"
#include "export/formats/export_tasks.h"
#include "export/formats/exports.h"
#include "export/formats/thread_totals.h"

namespace sonde {
namespace {

// Field numbers, message by message.
namespace otlp {
enum { kResourceProfiles = 1, kDictionary = 2 };
enum { kResource = 1, kScopeProfiles = 2 };  // of ResourceProfiles
enum { kAttributes = 1 };                    // of Resource
enum { kScope = 1, kProfiles = 2 };          // of ScopeProfiles
enum { kScopeName = 1, kScopeVersion = 2 };
enum { kKey = 1, kValue = 2 };             // of KeyValue; of KeyValueAndUnit the key is an index
enum { kStringValue = 1, kIntValue = 3 };  // of AnyValue
namespace profile {
enum { kSampleType = 1, kSamples = 2, kDuration = 4 };
}
enum { kType = 1, kUnit = 2 };  // of ValueType
namespace sample {
enum { kStack = 1, kAttributes = 2, kValues = 4 };
}
namespace dictionary {
enum {
  kMapping = 1,
  kLocation = 2,
  kFunction = 3,
  kLink = 4,
  kString = 5,
  kAttribute = 6,
  kStack = 7
};
}
enum { kMappingFilename = 4, kMappingAttributes = 5 };
enum { kLocationMapping = 1, kLocationLines = 3, kLocationAttributes = 4 };
enum { kLineFunction = 1, kLineNumber = 2 };
enum { kFunctionName = 1, kFunctionSystemName = 2, kFunctionFile = 3, kFunctionLine = 4 };
enum { kStackLocations = 1 };
}  // namespace otlp

/// An attribute of the dictionary: a string, or a number if there is none.
struct OtlpAttribute {
  uint32_t key;
  uint32_t text;  // number of the string; 0 for a number
  int64_t number;
};

class OtlpWriter {
 public:
  OtlpWriter(Sink& out, const StackProfile& profile)
      : out_(out),
        profile_(profile),
        samples_(profile),
        tasks_(samples_),
        strings_(profile),
        stack_of_(profile.nodes.size(), 0) {
    // The first entry of every table is empty, including attributes and stacks.
    strings_.number_of("");
    attributes_.push_back({});
    stacks_.emplace_back();
  }

  void write() {
    auto threads = samples_.by_thread();
    // Brings the threads of a process together, whatever order they came in.
    std::ranges::stable_sort(threads, {}, [&](const Thread& thread) {
      return std::pair(pid_of(thread), process_of(thread));
    });
    for (size_t i = 0; i < threads.size();) {
      size_t end = i;
      while (end < threads.size() && process_of(threads[end]) == process_of(threads[i])) ++end;
      write_process(std::span(threads).subspan(i, end - i));
      i = end;
    }
    write_dictionary();
  }

 private:
  using Thread = std::span<const ExportSamples::Group>;
  [[nodiscard]] uint32_t pid_of(const Thread& thread) const {
    return samples_.thread(thread.front().thread).pid;
  }

  /// What was several programs is as many processes.
  [[nodiscard]] uint32_t process_of(const Thread& thread) const {
    return tasks_.process_of(thread.front().thread);
  }

  // Processes.

  void write_process(std::span<const Thread> threads) {
    ThreadTotals sums(profile_, samples_);
    for (const Thread& thread : threads) sums.add(thread);
    std::string bytes;
    {
      protozero::pbf_writer data(bytes);
      protozero::pbf_writer resource_profiles(data, otlp::kResourceProfiles);
      {
        protozero::pbf_writer resource(resource_profiles, otlp::kResource);
        add_pair(resource, "process.executable.name",
                 samples_.process_name(tasks_.named_by(threads.front().front().thread)));
        if (samples_.has_times()) add_pair(resource, "process.pid", pid_of(threads.front()));
      }
      protozero::pbf_writer scope_profiles(resource_profiles, otlp::kScopeProfiles);
      {
        protozero::pbf_writer scope(scope_profiles, otlp::kScope);
        scope.add_string(otlp::kScopeName, "sonde");
        scope.add_string(otlp::kScopeVersion, std::string(sonde_version()));
      }
      for (size_t column = 0; column < profile_.columns.size(); ++column)
        add_profile(scope_profiles, sums, column);
    }
    out_.write(bytes);
  }
  static void add_pair(protozero::pbf_writer& resource, std::string_view key,
                       const std::string& text) {
    protozero::pbf_writer pair(resource, otlp::kAttributes);
    pair.add_string(otlp::kKey, std::string(key));
    protozero::pbf_writer value(pair, otlp::kValue);
    value.add_string(otlp::kStringValue, to_utf8(text));
  }
  static void add_pair(protozero::pbf_writer& resource, std::string_view key, uint32_t number) {
    protozero::pbf_writer pair(resource, otlp::kAttributes);
    pair.add_string(otlp::kKey, std::string(key));
    protozero::pbf_writer value(pair, otlp::kValue);
    value.add_int64(otlp::kIntValue, number);
  }

  void add_profile(protozero::pbf_writer& scope_profiles, const ThreadTotals& sums, size_t column) {
    protozero::pbf_writer made(scope_profiles, otlp::kProfiles);
    {
      protozero::pbf_writer type(made, otlp::profile::kSampleType);
      type.add_int32(otlp::kType, number_of(profile_.columns[column].name));
      std::string_view unit = profile_.columns[column].unit;
      type.add_int32(otlp::kUnit,
                     number_of(unit == "nanoseconds" || unit == "bytes" ? unit : "count"));
    }
    if (samples_.has_times())
      made.add_uint64(otlp::profile::kDuration, samples_.end_ns() - samples_.start_ns());
    for (size_t row = 0; row < sums.rows().size(); ++row) {
      if (sums.count(row, column) == 0) continue;
      const ThreadTotals::Row& of = sums.rows()[row];
      protozero::pbf_writer sample(made, otlp::profile::kSamples);
      sample.add_int32(otlp::sample::kStack, stack_of(of.node));
      if (samples_.has_times()) {
        const std::vector<int32_t>& attributes = attributes_of(of.thread);
        sample.add_packed_int32(otlp::sample::kAttributes, attributes.begin(), attributes.end());
      }
      const int64_t values[] = {std::llround(sums.value(row, column))};
      sample.add_packed_int64(otlp::sample::kValues, std::begin(values), std::end(values));
    }
  }

  int32_t number_of(std::string_view text) {
    return static_cast<int32_t>(strings_.number_of(text));
  }
  /// Stacks are numbered on first use; the empty one is first.
  int32_t stack_of(StackNodeId node) {
    if (!node.valid()) return 0;
    uint32_t& stack = stack_of_[node.index()];
    if (stack == 0) {
      stack = static_cast<uint32_t>(stacks_.size());
      stacks_.push_back(node);
    }
    return static_cast<int32_t>(stack);
  }
  int32_t add_attribute(std::string_view key, std::string_view text, int64_t number = 0) {
    attributes_.push_back(
        {.key = strings_.number_of(key), .text = strings_.number_of(text), .number = number});
    return static_cast<int32_t>(attributes_.size() - 1);
  }
  const std::vector<int32_t>& attributes_of(uint32_t thread) {
    auto [entry, is_new] = attributes_of_thread_.try_emplace(thread);
    if (is_new)
      entry.value() = {add_attribute("thread.id", "", samples_.thread(thread).tid),
                       add_attribute("thread.name", samples_.thread_name(thread))};
    return entry->second;
  }

  // The dictionary.

  /// The entries of one table, in dictionary pieces of limited size.
  template <typename Fill>
  void write_table(uint32_t table, size_t count, const Fill& fill) {
    constexpr size_t kPerPiece = 4096;
    for (size_t begin = 0; begin < count; begin += kPerPiece) {
      std::string bytes;
      {
        protozero::pbf_writer data(bytes);
        protozero::pbf_writer dictionary(data, otlp::kDictionary);
        for (size_t i = begin; i < std::min(count, begin + kPerPiece); ++i) {
          // A nested writer omits empty messages; here they must keep their index.
          std::string entry;
          protozero::pbf_writer fields(entry);
          fill(i, fields);
          dictionary.add_message(table, entry);
        }
      }
      out_.write(bytes);
    }
  }

  void write_dictionary() {
    write_mappings();
    write_locations();
    write_table(otlp::dictionary::kLink, 1, [](size_t, protozero::pbf_writer&) {});
    StackWalk walk(profile_);
    write_table(otlp::dictionary::kStack, stacks_.size(),
                [&](size_t i, protozero::pbf_writer& stack) {
                  std::vector<int32_t> locations;
                  for (uint32_t frame : walk.from_leaf(stacks_[i]))
                    locations.push_back(static_cast<int32_t>(frame + 1));
                  stack.add_packed_int32(otlp::kStackLocations, locations.begin(), locations.end());
                });
    write_table(otlp::dictionary::kAttribute, attributes_.size(),
                [&](size_t i, protozero::pbf_writer& attribute) {
                  if (i == 0) return;
                  attribute.add_int32(otlp::kKey, static_cast<int32_t>(attributes_[i].key));
                  protozero::pbf_writer value(attribute, otlp::kValue);
                  if (attributes_[i].text != 0)
                    value.add_string(otlp::kStringValue,
                                     to_utf8(strings_.text(attributes_[i].text)));
                  else
                    value.add_int64(otlp::kIntValue, attributes_[i].number);
                });
    write_strings();
  }

  void write_mappings() {
    std::vector<StringId> objects{StringId()};
    for (const StackFrame& frame : profile_.frames)
      if (frame.object.valid() &&
          mapping_of_.try_emplace(frame.object.value, static_cast<int32_t>(objects.size())).second)
        objects.push_back(frame.object);
    ObjectBuildIds build_ids(profile_);
    write_table(
        otlp::dictionary::kMapping, objects.size(), [&](size_t i, protozero::pbf_writer& mapping) {
          if (i == 0) return;
          mapping.add_int32(otlp::kMappingFilename,
                            static_cast<int32_t>(strings_.number_of(objects[i])));
          std::string_view build_id = build_ids.of(objects[i]);
          if (build_id.empty()) return;
          const int32_t attributes[] = {add_attribute("process.executable.build_id.gnu", build_id)};
          mapping.add_packed_int32(otlp::kMappingAttributes, std::begin(attributes),
                                   std::end(attributes));
        });
  }

  /// Each frame is a location and a function with the same number.
  void write_locations() {
    const int32_t kernel = add_attribute("profile.frame.type", "kernel");
    const int32_t native = add_attribute("profile.frame.type", "native");
    auto line_of = [](const StackFrame& frame) { return frame.file.valid() ? frame.line : 0; };
    write_table(otlp::dictionary::kLocation, profile_.frames.size() + 1,
                [&](size_t i, protozero::pbf_writer& location) {
                  if (i == 0) return;
                  const StackFrame& frame = profile_.frames[i - 1];
                  if (frame.object.valid())
                    location.add_int32(otlp::kLocationMapping, mapping_of_.at(frame.object.value));
                  {
                    protozero::pbf_writer line(location, otlp::kLocationLines);
                    line.add_int32(otlp::kLineFunction, static_cast<int32_t>(i));
                    if (line_of(frame) != 0) line.add_int64(otlp::kLineNumber, line_of(frame));
                  }
                  const int32_t attributes[] = {frame.kind == FrameKind::kKernel ? kernel : native};
                  location.add_packed_int32(otlp::kLocationAttributes, std::begin(attributes),
                                            std::end(attributes));
                });
    write_table(otlp::dictionary::kFunction, profile_.frames.size() + 1,
                [&](size_t i, protozero::pbf_writer& function) {
                  if (i == 0) return;
                  const StackFrame& frame = profile_.frames[i - 1];
                  auto name = static_cast<int32_t>(strings_.number_of(frame.name));
                  function.add_int32(otlp::kFunctionName, name);
                  function.add_int32(otlp::kFunctionSystemName, name);
                  function.add_int32(otlp::kFunctionFile,
                                     static_cast<int32_t>(strings_.number_of(frame.file)));
                  if (line_of(frame) != 0) function.add_int64(otlp::kFunctionLine, line_of(frame));
                });
  }

  void write_strings() {
    std::string bytes;
    for (size_t i = 0; i < strings_.size(); ++i) {
      protozero::pbf_writer data(bytes);
      protozero::pbf_writer dictionary(data, otlp::kDictionary);
      dictionary.add_string(otlp::dictionary::kString, to_utf8(strings_.text(i)));
    }
    out_.write(bytes);
  }

  Sink& out_;
  const StackProfile& profile_;
  ExportSamples samples_;
  ExportTasks tasks_;
  ExportStrings strings_;
  std::vector<uint32_t> stack_of_;  // by node; 0 if not numbered yet
  std::vector<StackNodeId> stacks_;
  std::vector<OtlpAttribute> attributes_;
  tsl::robin_map<uint32_t, std::vector<int32_t>> attributes_of_thread_;
  tsl::robin_map<uint32_t, int32_t> mapping_of_;  // by object
};

}  // namespace

void export_otlp(Sink& out, const StackProfile& profile) {
  OtlpWriter(out, profile).write();
}

}  // namespace sonde
