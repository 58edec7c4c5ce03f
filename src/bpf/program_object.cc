#include "bpf/program_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

#include "bpf/bpf_log.h"
#include "bpf/prologue_loader.h"

namespace sonde {
namespace {

std::unexpected<Error> refused(const BpfLog& log, const std::string& name, std::string_view what) {
  int error = errno;
  std::string cause = log.cause();
  // A refusal by the verifier is EACCES, and states its reason.
  if (error == EPERM)
    return fail(ErrorCode::kPermission, "cannot {} {}: {}; {}", what, name, std::strerror(error),
                why_bpf_is_not_permitted());
  return fail(ErrorCode::kUnsupported, "cannot {} {}: {}{}{}", what, name, std::strerror(error),
              cause.empty() ? "" : ": ", cause);
}

}  // namespace

struct ProgramObject::State {
  State(bpf_object* opened, std::string named) : object(opened), name(std::move(named)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    for (bpf_link* link : links) bpf_link__destroy(link);
    bpf_object__close(object);
  }
  bpf_object* object;
  std::string name;
  std::vector<bpf_program*> others;
  std::vector<bpf_link*> links;
  std::vector<Fd> copies;  // of programs that have several prologues

  [[nodiscard]] bpf_map* find_map(const std::string& map) const {
    return bpf_object__find_map_by_name(object, map.c_str());
  }
};

ProgramObject::ProgramObject(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProgramObject::ProgramObject(ProgramObject&&) noexcept = default;
ProgramObject& ProgramObject::operator=(ProgramObject&&) noexcept = default;
ProgramObject::~ProgramObject() = default;

Result<> ProgramObject::find_programs(const Prologues& prologues, PrologueLoader& loader) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->object) {
    ProgramSection section = TRY(parse_program_section(bpf_program__section_name(program)));
    if (section.kind == ProgramSection::Kind::kAttachedByLibbpf) {
      state_->others.push_back(program);
      continue;
    }
    bool probe = section.kind == ProgramSection::Kind::kProbe;
    bpf_program__set_type(program, probe ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_TRACEPOINT);
    programs_.push_back({bpf_program__name(program), std::move(section)});
    loader.add(program, TRY(prologues(programs_.back())));
  }
  if (programs_.empty() && state_->others.empty())
    return fail(ErrorCode::kBadEvent, "{} has no program", state_->name);
  return {};
}

Result<ProgramObject> ProgramObject::load(Bytes bytes, const std::string& name,
                                          const Prologues& prologues) {
  BpfLog log;
  PrologueLoader loader;
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = "scriptlet";
  bpf_object* opened = bpf_object__open_mem(bytes.data(), bytes.size(), &options);
  if (opened == nullptr) return refused(log, name, "read");
  ProgramObject object(std::make_unique<State>(opened, name));
  TRY(object.find_programs(prologues, loader));
  if (bpf_object__load(opened) != 0) return refused(log, name, "load");
  for (size_t i = 0; i < object.programs_.size(); ++i)
    if (!loader.load_others(i, object.programs_[i].fds, object.state_->copies))
      return refused(log, name, "load");
  return object;
}

Result<> ProgramObject::set_value(const MapSetting& setting) {
  bpf_map* map = state_->find_map(setting.map);
  if (map == nullptr)
    return fail(ErrorCode::kBadEvent, "{} has no map '{}'", state_->name, setting.map);
  if (bpf_map__type(map) != BPF_MAP_TYPE_ARRAY)
    return fail(ErrorCode::kBadEvent, "map '{}' is no array: it takes no value", setting.map);
  uint32_t size = bpf_map__value_size(map);
  uint64_t value = setting.value.value_or(0);
  if (size != 1 && size != 2 && size != 4 && size != 8)
    return fail(ErrorCode::kBadEvent, "map '{}' holds values of {} bytes: not numbers", setting.map,
                size);
  if (size < 8 && value >> (size * 8) != 0)
    return fail(ErrorCode::kBadEvent, "{} does not fit in the {} bytes of map '{}'", value, size,
                setting.map);
  uint32_t entries = bpf_map__max_entries(map);
  for (const auto& range : setting.indexes)
    if (range.second >= entries)
      return fail(ErrorCode::kBadEvent, "index {} is beyond the {} entries of map '{}'",
                  range.second, entries, setting.map);
  std::byte bytes[8];
  if constexpr (kHostOrder == ByteOrder::kBig) value <<= (8 - size) * 8;
  std::memcpy(bytes, &value, sizeof bytes);
  for (uint32_t index = 0; index < entries; ++index)
    if (setting.covers(index) && bpf_map_update_elem(bpf_map__fd(map), &index, bytes, BPF_ANY) != 0)
      return fail(ErrorCode::kFailed, "cannot write to map '{}': {}", setting.map,
                  std::strerror(errno));
  return {};
}

Result<> ProgramObject::check_event_map(const std::string& name) const {
  bpf_map* map = state_->find_map(name);
  if (map == nullptr) return fail(ErrorCode::kBadEvent, "{} has no map '{}'", state_->name, name);
  if (bpf_map__type(map) != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
    return fail(ErrorCode::kBadEvent,
                "map '{}' takes no events: it must be a BPF_MAP_TYPE_PERF_EVENT_ARRAY", name);
  return {};
}

Result<> ProgramObject::set_event(const std::string& name, uint32_t index, int fd) {
  TRY(check_event_map(name));
  bpf_map* map = state_->find_map(name);
  if (index >= bpf_map__max_entries(map))
    return fail(ErrorCode::kBadEvent,
                "map '{}' has {} entries, and CPU {} needs one: set max_entries = __NR_CPUS__",
                name, bpf_map__max_entries(map), index);
  if (bpf_map_update_elem(bpf_map__fd(map), &index, &fd, BPF_ANY) != 0)
    return fail(ErrorCode::kFailed, "cannot put the event into map '{}': {}{}", name,
                std::strerror(errno),
                errno == EINVAL || errno == EOPNOTSUPP
                    ? ": only events that are not inherited (no-inherit) are accepted"
                    : "");
  return {};
}

Result<> ProgramObject::attach_others() {
  for (bpf_program* program : state_->others) {
    BpfLog log;
    bpf_link* link = bpf_program__attach(program);
    if (link == nullptr)
      return refused(
          log,
          fmt::format("{} ({})", bpf_program__name(program), bpf_program__section_name(program)),
          "attach");
    state_->links.push_back(link);
  }
  return {};
}

}  // namespace sonde
