#include "capture/synthesis/recording_features.h"

#include <algorithm>
#include <map>

#include "base/version.h"
#include "capture/synthesis/object_build_id.h"
#include "capture/synthesis/session_features.h"
#include "capture/synthesis/synthesis_bpf.h"
#include "capture/synthesis/tracing_data_writer.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {
namespace {

size_t group_size(const Capture& capture, size_t leader) {
  return static_cast<size_t>(std::ranges::count_if(
      capture.events, [&](const CaptureEvent& event) { return event.parsed.leader == leader; }));
}

void add_groups(const Capture& capture, Features& features) {
  for (size_t i = 0; i < capture.events.size(); ++i) {
    size_t members = group_size(capture, i);
    if (capture.events[i].parsed.leader != i || members < 2) continue;
    const std::string& name = capture.events[i].parsed.group_name;
    features.groups.push_back({name.empty() ? "{anon_group}" : name, static_cast<uint32_t>(i),
                               static_cast<uint32_t>(members)});
  }
}

void keep_bpf_program(LoadedBpfProgram program, RecordingFeatures& all) {
  all.bpf_ids.push_back(program.id);
  all.bpf_storage.push_back(std::move(program.stored));
  all.features.bpf_programs.push_back({all.bpf_storage.back()});
  auto& types = all.features.bpf_btf;
  bool known =
      std::ranges::any_of(types, [&](const auto& btf) { return btf.first == program.btf_id; });
  if (program.btf_id == 0 || known) return;
  std::optional<std::vector<std::byte>> btf = bpf_type_info(program.btf_id);
  if (!btf) return;
  all.bpf_storage.push_back(std::move(*btf));
  types.emplace_back(program.btf_id, all.bpf_storage.back());
}

}  // namespace

std::vector<EventDesc> event_descriptions(const Capture& capture) {
  std::vector<EventDesc> descriptions;
  for (size_t i = 0; i < capture.events.size(); ++i) {
    const CaptureEvent& event = capture.events[i];
    EventDesc& desc = descriptions.emplace_back();
    desc.attr = event.attr();
    desc.name = event.parsed.name;
    for (const OpenedEvent& opened : event.opened) desc.ids.push_back(opened.id);
    desc.leader = EventId(event.parsed.leader);
    desc.group_name = event.parsed.group_name;
    if (event.parsed.leader == i) desc.group_size = static_cast<uint32_t>(group_size(capture, i));
    desc.unit = event.parsed.unit;
    desc.scale = event.parsed.scale;
    desc.own_cpus = event.parsed.cpus;
  }
  return descriptions;
}

Result<RecordingFeatures> initial_features(const Capture& capture, const RecordOptions& options,
                                           std::string_view tool) {
  RecordingFeatures all;
  Features& features = all.features;
  collect_machine_features(features);
  features.version = version_under_name(std::string(tool));
  features.command_line = options.command_line;
  add_groups(capture, features);
  std::vector<TracepointName> tracepoints;
  for (const CaptureEvent& event : capture.events) {
    features.branch_stack |= event.attr().samples(abi::kSampleBranchStack);
    if (event.attr().type == abi::kTypeTracepoint) tracepoints.push_back(event.parsed.tracepoint);
  }
  if (!tracepoints.empty()) {
    Tracefs tracefs;
    all.tracing_data = TRY(tracing_data(tracepoints, tracefs));
    features.tracing_data = all.tracing_data;
  }
  if (options.sampling.clockid) collect_clock(*options.sampling.clockid, features);
  if (options.sampling.bpf_events)
    for (LoadedBpfProgram& program : loaded_bpf_programs())
      keep_bpf_program(std::move(program), all);
  return all;
}

void add_bpf_program(uint32_t id, RecordingFeatures& all) {
  if (std::ranges::find(all.bpf_ids, id) != all.bpf_ids.end()) return;
  std::optional<LoadedBpfProgram> program = loaded_bpf_program(id);
  if (program) keep_bpf_program(std::move(*program), all);
}

std::optional<std::string> build_id_of(const HitObject& hit) {
  if (hit.kind == HitObject::Kind::kUser) return object_build_id(hit);
  if (hit.path == "[kernel.kallsyms]") return kernel_build_id();
  // A module: "[name]" or its file.
  std::string name = hit.path.substr(hit.path.rfind('/') + 1);
  name = name.substr(0, name.find(".ko"));
  if (name.starts_with('[')) name = name.substr(1, name.size() - 2);
  std::ranges::replace(name, '-', '_');
  return module_build_id(name);
}

std::vector<BuildIdEntry> build_ids_of(const std::vector<HitObject>& hits,
                                       std::span<const std::optional<std::string>> known) {
  std::vector<BuildIdEntry> entries;
  std::map<std::string_view, int> files_of_path;
  for (const HitObject& hit : hits) ++files_of_path[hit.path];
  for (size_t i = 0; i < hits.size(); ++i) {
    const HitObject& hit = hits[i];
    std::optional<std::string> id = i < known.size() && known[i] ? known[i] : build_id_of(hit);
    if (!id) continue;
    bool kernel = hit.kind == HitObject::Kind::kKernel;
    BuildIdEntry& entry = entries.emplace_back();
    entry.misc = kernel ? abi::kMiscKernel : abi::kMiscUser;
    entry.build_id = std::move(*id);
    entry.path = hit.path;
    if (files_of_path[hit.path] > 1) entry.file = hit.file;
  }
  return entries;
}

}  // namespace sonde
