#include "capture/opening/owned_events.h"

#include <linux/perf_event.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/blocked_signals.h"
#include "base/nearest_names.h"
#include "base/text.h"
#include "bpf/filters/shared_filter.h"
#include "elf/elf_file.h"
#include "event/parser/event_error.h"
#include "probe/events/probe_names.h"
#include "probe/source/plan_probes.h"
#include "probe/usdt/plan_usdt.h"

namespace sonde {

Result<std::vector<SdtProbe>> OwnedEvents::find_usdt(std::string_view provider,
                                                     std::string_view name,
                                                     std::string_view object) const {
  std::vector<SdtProbe> found;
  std::vector<std::string> others, not_plain;
  std::string their_object;
  std::string wanted = fmt::format("sdt_{}:{}", provider, name);
  auto look_into = [&](const ElfFile& file, const std::string& path) {
    for (SdtProbe& probe : find_sdt_probes(file, path, "*", "*")) {
      bool matches = glob_match(provider, probe.provider) && glob_match(name, probe.name);
      if (matches && !probe.has_plain_name()) {
        if (not_plain.empty()) their_object = path;
        not_plain.push_back(probe.event_name());
      } else if (matches) {
        found.push_back(std::move(probe));
      } else if (probe.has_plain_name()) {
        others.push_back(probe.event_name());
      }
    }
  };
  // Names that no event can have are an error if nothing else was asked for.
  auto check_names = [&]() -> Result<> {
    if (not_plain.empty()) return {};
    Error error = names_not_plain(their_object, not_plain);
    if (found.empty()) return std::unexpected(std::move(error));
    note(error.message);
    return {};
  };
  auto nearest = [&] {
    std::string names = did_you_mean(nearest_names(wanted, others));
    return names.empty() ? names : names + "\n";
  };
  if (!object.empty()) {
    std::string path(object);
    ElfFile file = TRY(ElfFile::open(path));
    look_into(file, path);
    TRY(check_names());
    if (found.empty())
      return fail(ErrorCode::kNotFound,
                  "{0} has no probe {1}.\n{2}'list sdt_*:*@{0}' shows those it has", path, wanted,
                  nearest());
    return found;
  }
  for (const std::string& path : usdt_objects(provider, name, setup_.usdt)) {
    Result<ElfFile> file = ElfFile::open(path);
    if (!file) {
      note(file.error().message);
      continue;
    }
    look_into(*file, path);
  }
  TRY(check_names());
  if (found.empty())
    return fail(ErrorCode::kNotFound,
                "It is not in the build-id cache, the command or the processes of -p.\n{}"
                "Name the object: {}@/path/to/program, or register it with\n"
                "'perf buildid-cache --add /path/to/program'",
                nearest(), wanted);
  return found;
}

Result<std::vector<OwnedEvent>> OwnedEvents::make_usdt(std::string_view provider,
                                                       std::string_view name,
                                                       std::string_view object) {
  if (setup_.tracefs.empty())
    return fail(ErrorCode::kUnsupported, "tracefs is not mounted: probes are created there");
  std::vector<SdtProbe> found = TRY(find_usdt(provider, name, object));
  std::vector<OwnedEvent> events;
  std::vector<std::string> done;
  for (const SdtProbe& probe : found) {
    std::string system = fmt::format("sdt_{}", probe.provider);
    std::string full_name = fmt::format("{}:{}", system, probe.name);
    if (std::ranges::find(done, full_name) != done.end()) continue;
    done.push_back(full_name);
    std::vector<ProbePlace> places;
    for (const SdtProbe& other : found) {
      if (other.name != probe.name || other.provider != probe.provider) continue;
      places.push_back(other.place);
      for (const std::string& operand : other.not_fetched)
        note(fmt::format("{}: the kernel cannot fetch the argument {}", full_name, operand));
    }
    for (TracepointName& made : TRY(probes_.add(system, probe.name, places))) {
      note(fmt::format("{}:{} is a uprobe in {} ({}) until the end; a child removes it if need be",
                       system, made.name, places.front().object, made.system));
      std::string shown = fmt::format("{}:{}", system, made.name);
      events.push_back({std::move(made), std::move(shown)});
    }
  }
  return events;
}

Result<std::vector<ProbePlan>> OwnedEvents::plan(const RequestedProbe& request,
                                                 const std::string& object) const {
  if (!request.sdt_name.empty())
    return plan_usdt(request, {.object = object, .buildid_dir = setup_.usdt.buildid_dir});
  ProbedCode code = TRY(ProbedCode::open({.executable = object}, setup_.code));
  return plan_probes(request, code, {});
}

Result<std::vector<ProbePlan>> OwnedEvents::plan_in_scope(const RequestedProbe& request) const {
  std::vector<std::string> objects = program_objects(setup_.usdt);
  bool is_usdt = !request.sdt_name.empty();
  std::optional<Error> first;
  for (const std::string& object : objects) {
    Result<std::vector<ProbePlan>> plans = plan(request, object);
    if (plans) return plans;
    if (!first) first = plans.error();
    // The function is here, but what is wanted of it is not.
    if (plans.error().code != ErrorCode::kNotFound) return plans;
    if (is_usdt || request.function.empty()) continue;
    Result<ProbedCode> code = ProbedCode::open({.executable = object}, setup_.code);
    if (code && !code->symbols().functions(request.function).empty()) return plans;
  }
  Result<std::vector<ProbePlan>> in_kernel = plan(request, "");
  if (in_kernel || objects.empty()) return in_kernel;
  return fail(ErrorCode::kNotFound,
              "--probe '{}': neither {}, nor its libraries, nor the kernel has it ({}); name the "
              "object: --probe '/path/to/object {}'",
              request.text, objects.front(), *first, request.text);
}

Result<std::vector<OwnedEvent>> OwnedEvents::make_probes(std::string_view definition) {
  if (setup_.tracefs.empty())
    return fail(ErrorCode::kUnsupported, "tracefs is not mounted: probes are created there");
  definition = trim(definition);
  std::string object;
  if (definition.starts_with('/')) {
    size_t end = std::min(definition.find_first_of(" \t"), definition.size());
    object = definition.substr(0, end);
    definition = trim(definition.substr(end));
  }
  RequestedProbe request = TRY(parse_probe(definition));
  auto plan_it = [&] {
    BlockedSignals blocked;  // reading objects may start threads
    return object.empty() ? plan_in_scope(request) : plan(request, object);
  };
  std::vector<ProbePlan> plans = TRY(plan_it());
  // Glob functions have several names; each is an event with all its places.
  std::vector<std::pair<TracepointName, std::vector<ProbePlace>>> wanted;
  for (ProbePlan& plan : plans) {
    for (const std::string& text : plan.notes) note(text);
    TracepointName name = wanted_name(request, plan);
    auto known = std::ranges::find(wanted, name, [](const auto& one) { return one.first; });
    if (known == wanted.end()) known = wanted.insert(known, {name, {}});
    known->second.push_back(std::move(plan.place));
  }
  std::vector<OwnedEvent> events;
  for (const auto& [name, places] : wanted)
    for (TracepointName& made : TRY(probes_.add(name.system, name.name, places))) {
      std::string shown = fmt::format("{}:{}", name.system, made.name);
      note(fmt::format("{}: {}", shown, probe_definition(made.system, made.name, places.front())));
      events.push_back({std::move(made), std::move(shown)});
    }
  return events;
}

Result<> OwnedEvents::make_program_events(const ProgramObject::Program& program,
                                          const std::vector<ProgramProbe>& probes,
                                          std::vector<OwnedEvent>& events) {
  constexpr std::string_view kProbes = "perf_bpf_probe";  // perf's name for their group
  const ProgramSection& section = program.section;
  auto first = static_cast<uint32_t>(program_fds_.size());
  program_fds_.insert(program_fds_.end(), program.fds.begin(), program.fds.end());
  if (section.kind == ProgramSection::Kind::kTracepoint)
    events.push_back({{section.system, section.event},
                      fmt::format("{}:{}", section.system, section.event),
                      first});
  for (uint32_t i = 0; i < probes.size(); ++i)
    for (TracepointName& made : TRY(probes_.add(kProbes, probes[i].event, probes[i].places))) {
      std::string shown = fmt::format("{}:{}", kProbes, made.name);
      note(fmt::format("{}: {}", shown,
                       probe_definition(made.system, made.name, probes[i].places.front())));
      events.push_back({std::move(made), std::move(shown), first + i});
    }
  return {};
}

Result<std::vector<OwnedEvent>> OwnedEvents::make_programs(
    std::string_view path, const std::vector<TermSyntax>& settings) {
  std::string file(path);
  std::vector<std::byte> compiled;
  MappedFile mapped;
  bool is_source = path.ends_with(".c");
  if (is_source)
    compiled = TRY(compile_program(file, setup_.compiler, setup_.note));
  else
    mapped = TRY(MappedFile::open(file));
  std::vector<std::vector<ProgramProbe>> probes;
  auto prologues =
      [&](const ProgramObject::Program& program) -> Result<std::vector<ProgramObject::Prologue>> {
    BlockedSignals blocked;  // reading objects may start threads
    probes.push_back(TRY(plan_program_probes(program.section, setup_.code, setup_.note)));
    std::vector<ProgramObject::Prologue> made;
    for (const ProgramProbe& probe : probes.back()) made.push_back(probe.prologue);
    if (made.empty()) made.emplace_back();
    return made;
  };
  ProgramObject object =
      TRY(ProgramObject::load(is_source ? compiled : mapped.bytes(), file, prologues));
  std::vector<MapSetting> event_settings;
  for (const TermSyntax& term : settings) {
    MapSetting setting = TRY(parse_map_setting(term.name, term.value.value_or("")));
    if (setting.value) {
      TRY(object.set_value(setting));
      continue;
    }
    TRY(object.check_event_map(setting.map));
    event_settings.push_back(std::move(setting));
  }
  std::vector<OwnedEvent> events;
  for (size_t i = 0; i < object.programs().size(); ++i) {
    const ProgramObject::Program& program = object.programs()[i];
    size_t before = events.size();
    TRY(make_program_events(program, probes[i], events));
    for (const OwnedEvent& event : std::span(events).subspan(before))
      note(fmt::format("{}: program {} filters {}", path, program.name, event.name));
  }
  objects_.push_back({std::move(object), std::move(event_settings)});
  return events;
}

Result<OwnedEvents::MadeFilter> OwnedEvents::make_filter(const std::string& text,
                                                         uint32_t program) {
  auto cgroup_id = [](const std::string& path) -> std::optional<uint64_t> {
    // A cgroup's id is the number of its directory, which is named from the mount or the root.
    struct stat status{};
    for (std::string_view mount : {"", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      std::string directory = std::string(mount) + path;
      bool is_one = ::access((directory + "/cgroup.procs").c_str(), F_OK) == 0;
      if (is_one && ::stat(directory.c_str(), &status) == 0) return status.st_ino;
    }
    return std::nullopt;
  };
  SampleFilterTerms terms = TRY(parse_sample_filter(text, cgroup_id));
  BpfSampleFilter filter = TRY(BpfSampleFilter::load(terms));
  return MadeFilter{text, std::move(terms), std::move(filter), program};
}

Result<uint32_t> OwnedEvents::make_sample_filter(const std::string& text) {
  auto program = static_cast<uint32_t>(program_fds_.size());
  filters_.push_back(TRY(make_filter(text, program)));
  program_fds_.push_back(filters_.back().filter.fd());
  return program;
}

bool OwnedEvents::is_sample_filter(uint32_t program) const {
  return std::ranges::find(filters_, program, &MadeFilter::program) != filters_.end();
}

Result<> OwnedEvents::narrow_sample_filter(uint32_t program, const std::string& text) {
  auto made = std::ranges::find(filters_, program, &MadeFilter::program);
  *made = TRY(make_filter(fmt::format("{}, {}", made->text, text), program));
  program_fds_[program] = made->filter.fd();
  return {};
}

std::vector<std::string> OwnedEvents::filter_notes() const {
  std::vector<std::string> notes;
  for (const MadeFilter& made : filters_) {
    std::optional<uint64_t> dropped = made.filter.dropped();
    notes.push_back(
        dropped ? fmt::format("--filter '{}' dropped {} {}", made.text, *dropped,
                              *dropped == 1 ? "sample" : "samples")
                : fmt::format("--filter '{}': somebody removed it from {} during the recording, "
                              "and no sample was kept from then on",
                              made.text, shared_filter_directory()));
  }
  return notes;
}

Result<> OwnedEvents::check_samples(const CaptureEvent& event) const {
  auto made = std::ranges::find(filters_, *event.parsed.bpf_program, &MadeFilter::program);
  if (made == filters_.end()) return {};
  for (const SampleFilterTerms::Need& need : made->terms.needs)
    if ((event.attr().sample_type & need.sample_types) == 0)
      return fail(ErrorCode::kUsage, "--filter '{}': {} does not sample '{}': {}", made->text,
                  event.parsed.name, need.term, need.remedy);
  return {};
}

Result<> OwnedEvents::fill_map(Loaded& loaded, const MapSetting& setting,
                               const std::vector<CaptureEvent>& events) {
  auto event = std::ranges::find(events, setting.event,
                                 [](const CaptureEvent& one) { return one.parsed.name; });
  if (event == events.end())
    return fail(ErrorCode::kFailed,
                "map:{}.event={}: there is no event of that name: give one name={}", setting.map,
                setting.event, setting.event);
  for (const OpenedEvent& opened : event->opened) {
    if (opened.cpu < 0)
      return fail(ErrorCode::kFailed,
                  "map:{}.event={}: the event must be opened on CPUs, as with -a", setting.map,
                  setting.event);
    bool first = &opened == &*std::ranges::find(event->opened, opened.cpu, &OpenedEvent::cpu);
    if (!first)
      return fail(ErrorCode::kFailed,
                  "map:{}.event={}: a map holds one descriptor per CPU, and there are several "
                  "threads: record one thread, or all with -a",
                  setting.map, setting.event);
    auto index = static_cast<uint32_t>(opened.cpu);
    if (setting.covers(index)) TRY(loaded.object.set_event(setting.map, index, opened.fd));
  }
  return {};
}

Result<> OwnedEvents::attach(Sys& sys, const std::vector<CaptureEvent>& events) {
  for (Loaded& loaded : objects_) {
    for (const MapSetting& setting : loaded.event_settings) TRY(fill_map(loaded, setting, events));
    TRY(loaded.object.attach_others());
  }
  for (const CaptureEvent& event : events)
    if (event.parsed.bpf_program && *event.parsed.bpf_program < program_fds_.size())
      TRY(attach_program(sys, event));
  return {};
}

Result<> OwnedEvents::attach_program(Sys& sys, const CaptureEvent& event) {
  TRY(check_samples(event));
  uint32_t number = *event.parsed.bpf_program;
  auto filter = std::ranges::find(filters_, number, &MadeFilter::program);
  auto program = static_cast<uint64_t>(program_fds_[number]);
  for (const OpenedEvent& opened : event.opened) {
    uint64_t id = 0;
    if (filter != filters_.end() &&
        sys.ioctl(opened.fd, PERF_EVENT_IOC_ID, reinterpret_cast<uint64_t>(&id)))
      TRY(filter->filter.add_event(id));
    SysResult<int> set = sys.ioctl(opened.fd, PERF_EVENT_IOC_SET_BPF, program);
    // A program is attached only once to each tracepoint, whichever descriptor it came through.
    if (!set && set.error() != EEXIST)
      return fail(ErrorCode::kUnsupported, "cannot attach the BPF program to {}: {}",
                  event.parsed.name, std::strerror(set.error()));
  }
  return {};
}

}  // namespace sonde
