#include "bpf/shared_counters.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "bpf/bpf_log.h"

namespace sonde {
namespace {

/// Events that can be found by others at the same time; as many as in perf's table.
constexpr uint32_t kTableEvents = 16;

struct TableValue {
  uint32_t link_id, map_id;
};

/// Counters of other CPUs, for example from before one was switched on, must not be taken for
/// these: the name depends on the CPUs.
std::string name_for(std::span<const int> cpus) {
  uint32_t hash = 2166136261;  // FNV-1a
  for (int cpu : cpus) hash = (hash ^ static_cast<uint32_t>(cpu)) * 16777619;
  return fmt::format("counters{:06x}", hash & 0xffffff);
}

bool has_live_link(uint32_t id) {
  return id != 0 && Fd(bpf_link_get_fd_by_id(id)).valid();
}

std::unexpected<Error> refused(const std::string& path, std::string_view what) {
  int error = errno;
  if (error == EPERM && std::string_view(what) == "make")
    return fail(
        ErrorCode::kPermission,
        "cannot make the map {}: {}: the directory must be a mounted bpffs (mount -t bpf bpf "
        "DIR); {}",
        path, std::strerror(error), why_bpf_is_not_permitted());
  return fail(error == EPERM || error == EACCES ? ErrorCode::kPermission : ErrorCode::kUnsupported,
              "cannot {} the map {}: {}", what, path, std::strerror(error));
}

Result<> check_shape(int table, const std::string& path) {
  bpf_map_info info{};
  uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(table, &info, &size) != 0) return refused(path, "examine");
  if (info.type == BPF_MAP_TYPE_HASH && info.key_size == sizeof(abi::EventAttr) &&
      info.value_size == sizeof(TableValue))
    return {};
  return fail(ErrorCode::kUnsupported,
              "{} is not a map from attrs of {} bytes to ids: it is another program's, or another "
              "version's; remove it or give another --bpf-attr-map",
              path, sizeof(abi::EventAttr));
}

Result<Fd> make_table(const std::string& path) {
  Fd table(bpf_map_create(BPF_MAP_TYPE_HASH, "perf_attr_map", sizeof(abi::EventAttr),
                          sizeof(TableValue), kTableEvents, nullptr));
  if (!table.valid()) return refused(path, "create");
  if (bpf_obj_pin(table.get(), path.c_str()) == 0) return table;
  if (errno != EEXIST) return refused(path, "make");
  // Somebody else was quicker.
  Fd theirs(bpf_obj_get(path.c_str()));
  if (!theirs.valid()) return refused(path, "open");
  return theirs;
}

}  // namespace

Result<Fd> make_counter_map(std::span<const CpuCounter> counters, std::span<const int> cpus) {
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_PRESERVE_ELEMS;
  int last = cpus.empty() ? 0 : std::ranges::max(cpus);
  Fd map(bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, name_for(cpus).c_str(), sizeof(uint32_t),
                        sizeof(uint32_t), static_cast<uint32_t>(last) + 1, &options));
  bool done = map.valid() && std::ranges::all_of(counters, [&](const CpuCounter& counter) {
                return bpf_map_update_elem(map.get(), &counter.cpu, &counter.fd, BPF_ANY) == 0;
              });
  if (!done)
    return fail(errno == EPERM ? ErrorCode::kPermission : ErrorCode::kUnsupported,
                "cannot give counters to a BPF program: {}", std::strerror(errno));
  return map;
}

Result<SharedCounters> SharedCounters::open(const std::string& path) {
  Fd table(bpf_obj_get(path.c_str()));
  if (!table.valid()) {
    if (errno != ENOENT) return refused(path, "open");
    table = TRY(make_table(path));
  }
  TRY(check_shape(table.get(), path));
  while (::flock(table.get(), LOCK_EX) != 0)
    if (errno != EINTR) return refused(path, "lock");
  return SharedCounters(std::move(table));
}

Fd SharedCounters::find(const abi::EventAttr& attr, std::span<const int> cpus) const {
  TableValue value{};
  if (bpf_map_lookup_elem(table_.get(), &attr, &value) != 0 || has_live_link(value.link_id))
    return Fd();
  Fd map(bpf_map_get_fd_by_id(value.map_id));
  bpf_map_info info{};
  uint32_t size = sizeof info;
  // Ids are used again some day, for any map.
  bool is_it = map.valid() && bpf_obj_get_info_by_fd(map.get(), &info, &size) == 0 &&
               info.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY && name_for(cpus) == info.name;
  return is_it ? std::move(map) : Fd();
}

void SharedCounters::add(const abi::EventAttr& attr, const Fd& map) {
  TableValue value{};
  if (bpf_map_lookup_elem(table_.get(), &attr, &value) == 0 && has_live_link(value.link_id)) return;
  bpf_map_info info{};
  uint32_t size = sizeof info;
  if (bpf_obj_get_info_by_fd(map.get(), &info, &size) != 0) return;
  value = {.link_id = 0, .map_id = info.id};
  if (bpf_map_update_elem(table_.get(), &attr, &value, BPF_ANY) == 0 || errno != E2BIG) return;
  remove_stale();
  (void)bpf_map_update_elem(table_.get(), &attr, &value, BPF_ANY);
}

void SharedCounters::remove_stale() {
  std::vector<abi::EventAttr> stale;
  abi::EventAttr key{}, next{};
  for (bool first = true; bpf_map_get_next_key(table_.get(), first ? nullptr : &key, &next) == 0;
       first = false) {
    key = next;
    TableValue value{};
    if (bpf_map_lookup_elem(table_.get(), &key, &value) == 0 && !has_live_link(value.link_id) &&
        !Fd(bpf_map_get_fd_by_id(value.map_id)).valid())
      stale.push_back(key);
  }
  for (const abi::EventAttr& attr : stale) (void)bpf_map_delete_elem(table_.get(), &attr);
}

}  // namespace sonde
