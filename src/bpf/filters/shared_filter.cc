#include "bpf/filters/shared_filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "bpf/bpf_log.h"
#include "bpf/skeletons/shared_filter.skel.h"

namespace sonde {
namespace {

constexpr const char* kBpfFileSystem = "/sys/fs/bpf";
constexpr BpfSubject kSharedProgram{"the BPF program that filters samples for all users",
                                    "'report' filters afterwards"};
constexpr std::string_view kPins[] = {"program", "filters", "events"};

std::string pin_path(std::string_view name) {
  return fmt::format("{}/{}", shared_filter_directory(), name);
}

std::unexpected<Error> pin_failed(std::string_view action, const std::string& path) {
  int error = errno;
  bool forbidden = error == EPERM || error == EACCES;
  return fail(forbidden ? ErrorCode::kPermission : ErrorCode::kFailed,
              "--setup-filter: cannot {} {}: {}{}", action, path, std::strerror(error),
              forbidden ? "; " + why_bpf_is_not_permitted() : "");
}

/// Lets everybody pass through a directory, whatever else is in it.
bool let_pass(const char* directory) {
  struct stat status{};
  constexpr mode_t kSearch = S_IXGRP | S_IXOTH;
  return ::stat(directory, &status) == 0 &&
         ::chmod(directory, (status.st_mode & ALLPERMS) | kSearch) == 0;
}

Result<> pin_one(int fd, std::string_view name) {
  constexpr mode_t kEverybody = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  std::string path = pin_path(name);
  if (bpf_obj_pin(fd, path.c_str()) != 0 || ::chmod(path.c_str(), kEverybody) != 0)
    return pin_failed("pin", path);
  return {};
}

Result<> pin_all(const shared_filter& skeleton) {
  TRY(pin_one(bpf_program__fd(skeleton.progs.on_shared_sample), kPins[0]));
  TRY(pin_one(bpf_map__fd(skeleton.maps.filters), kPins[1]));
  return pin_one(bpf_map__fd(skeleton.maps.events), kPins[2]);
}

}  // namespace

std::string shared_filter_directory() {
  return fmt::format("{}/sonde_filter", kBpfFileSystem);
}

Result<> pin_shared_filter() {
  struct statfs file_system{};
  if (::statfs(kBpfFileSystem, &file_system) != 0 ||
      static_cast<uint64_t>(file_system.f_type) != BPF_FS_MAGIC)
    return fail(ErrorCode::kUnsupported,
                "--setup-filter: no BPF file system is mounted on {}: mount -t bpf bpf {}",
                kBpfFileSystem, kBpfFileSystem);
  BpfLog log;
  std::unique_ptr<shared_filter, decltype(&shared_filter__destroy)> skeleton(
      shared_filter__open(), &shared_filter__destroy);
  if (!skeleton) return bpf_refused(log, "open", kSharedProgram);
  if (shared_filter__load(skeleton.get()) != 0) return bpf_refused(log, "load", kSharedProgram);
  std::string directory = shared_filter_directory();
  constexpr mode_t kOwnerWrites = S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH;
  if (::mkdir(directory.c_str(), kOwnerWrites) != 0) {
    if (errno == EEXIST)
      return fail(ErrorCode::kFailed, "--setup-filter pin: {} is there already", directory);
    return pin_failed("make", directory);
  }
  Result<> pinned = pin_all(*skeleton);
  if (pinned && (::chmod(directory.c_str(), kOwnerWrites) != 0 || !let_pass(kBpfFileSystem)))
    pinned = pin_failed("open to everybody", directory);
  if (!pinned) (void)unpin_shared_filter();
  return pinned;
}

Result<> unpin_shared_filter() {
  std::string directory = shared_filter_directory();
  for (std::string_view name : kPins) {
    std::string path = pin_path(name);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return pin_failed("remove", path);
  }
  if (::rmdir(directory.c_str()) == 0) return {};
  if (errno == ENOENT)
    return fail(ErrorCode::kNotFound, "--setup-filter unpin: nothing is pinned in {}", directory);
  return pin_failed("remove", directory);
}

bool SharedSampleFilter::is_pinned() {
  return ::access(pin_path(kPins[0]).c_str(), F_OK) == 0;
}

SharedSampleFilter::SharedSampleFilter(Fd program, Fd filters, Fd events,
                                       const SampleFilterTerms& terms)
    : program_(std::move(program)), filters_(std::move(filters)), events_(std::move(events)) {
  std::ranges::copy(terms.tests, entry_.tests);
  entry_.owner = static_cast<uint32_t>(::getpid());
}

Result<SharedSampleFilter> SharedSampleFilter::open(const SampleFilterTerms& terms) {
  Fd opened[std::size(kPins)];
  for (size_t i = 0; i < std::size(kPins); ++i) {
    std::string path = pin_path(kPins[i]);
    opened[i] = Fd(bpf_obj_get(path.c_str()));
    if (opened[i].valid()) continue;
    int error = errno;
    return fail(ErrorCode::kPermission,
                "--filter: cannot open {}: {}; before Linux 5.19 this needs "
                "kernel.unprivileged_bpf_disabled=0",
                path, std::strerror(error));
  }
  return SharedSampleFilter(std::move(opened[0]), std::move(opened[1]), std::move(opened[2]),
                            terms);
}

SharedSampleFilter::~SharedSampleFilter() {
  if (!filters_.valid() || ids_.empty()) return;
  for (uint64_t id : ids_) (void)bpf_map_delete_elem(events_.get(), &id);
  (void)bpf_map_delete_elem(filters_.get(), ids_.data());
}

/// Entries whose recorder is dead, and events whose entry is gone.
void SharedSampleFilter::remove_abandoned() const {
  std::vector<uint64_t> gone;
  uint64_t key = 0;
  for (const void* before = nullptr; bpf_map_get_next_key(filters_.get(), before, &key) == 0;
       before = &key) {
    shared_filter_entry entry{};
    if (bpf_map_lookup_elem(filters_.get(), &key, &entry) != 0) continue;
    bool is_dead = ::kill(static_cast<pid_t>(entry.owner), 0) != 0 && errno == ESRCH;
    if (is_dead) gone.push_back(key);
  }
  for (uint64_t filter : gone) (void)bpf_map_delete_elem(filters_.get(), &filter);
  gone.clear();
  for (const void* before = nullptr; bpf_map_get_next_key(events_.get(), before, &key) == 0;
       before = &key) {
    uint64_t filter = 0;
    shared_filter_entry entry{};
    if (bpf_map_lookup_elem(events_.get(), &key, &filter) == 0 &&
        bpf_map_lookup_elem(filters_.get(), &filter, &entry) != 0)
      gone.push_back(key);
  }
  for (uint64_t event : gone) (void)bpf_map_delete_elem(events_.get(), &event);
}

Result<> SharedSampleFilter::put(int map, const void* key, const void* value) const {
  if (bpf_map_update_elem(map, key, value, BPF_ANY) == 0) return {};
  remove_abandoned();
  if (bpf_map_update_elem(map, key, value, BPF_ANY) == 0) return {};
  return fail(ErrorCode::kFailed,
              "--filter: no room in {}, which serves {} recordings and {} events at a time: {}",
              shared_filter_directory(), SHARED_FILTERS, SHARED_FILTER_EVENTS,
              std::strerror(errno));
}

Result<> SharedSampleFilter::add_event(uint64_t id) {
  if (ids_.empty()) TRY(put(filters_.get(), &id, &entry_));
  ids_.push_back(id);
  return put(events_.get(), &id, ids_.data());
}

std::optional<uint64_t> SharedSampleFilter::dropped() const {
  shared_filter_entry entry{};
  if (ids_.empty()) return 0;
  if (bpf_map_lookup_elem(filters_.get(), ids_.data(), &entry) != 0) return std::nullopt;
  return entry.dropped;
}

}  // namespace sonde
