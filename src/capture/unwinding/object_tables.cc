#include "capture/unwinding/object_tables.h"

#include <dirent.h>
#include <elf.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "base/clock.h"
#include "base/files/regular_file.h"
#include "base/memory_shortage.h"
#include "base/parallel.h"
#include "base/text.h"
#include "capture/synthesis/object_build_id.h"
#include "capture/unwinding/needed_libraries.h"
#include "store/mapped_object.h"
#include "store/object_cache.h"
#include "store/proc_maps.h"
#include "symbol/jit_dump.h"

namespace sonde {
namespace {

/// Rows of a table that takes some milliseconds to build: smaller ones are not cached on disk.
constexpr size_t kWorthCaching = 20000;
constexpr std::string_view kVdso = "[vdso]";
/// Bounds the memory of those that are prepared and not loaded yet.
constexpr size_t kObjectsAtOnce = 64;
#ifdef __aarch64__
constexpr uint16_t kMachine = EM_AARCH64;
#else
constexpr uint16_t kMachine = EM_X86_64;
#endif

/// A device number as the kernel keeps it (MKDEV in linux/kdev_t.h).
uint32_t kernel_device(uint32_t major, uint32_t minor) {
  constexpr unsigned kMinorBits = 20;
  return major << kMinorBits | minor;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return pids;
  while (const dirent* entry = ::readdir(directory))
    if (std::optional<uint64_t> pid = parse_number(entry->d_name))
      pids.push_back(static_cast<pid_t>(*pid));
  ::closedir(directory);
  return pids;
}

template <typename Visit>
void for_each_code_mapping(pid_t pid, const Visit& visit) {
  Result<std::string> maps = read_file(fmt::format("/proc/{}/maps", pid));
  if (!maps) return;
  for (std::string_view line : split(*maps, '\n'))
    if (std::optional<ProcMapping> mapping = parse_proc_mapping(line);
        mapping && mapping->executable)
      visit(*mapping);
}

/// The size of a process's file; nothing if another file is at its path now.
std::optional<uint64_t> size_of(pid_t pid, const ProcMapping& mapping) {
  struct stat found{};
  std::string inside = fmt::format("/proc/{}/root{}", pid, mapping.path);
  if (::stat(inside.c_str(), &found) != 0 || found.st_ino != mapping.inode) return std::nullopt;
  return static_cast<uint64_t>(found.st_size);
}

/// Of a file in our own view of them.
std::optional<walk_object_key> key_of(const std::string& path) {
  struct stat found{};
  if (path.empty() || ::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
    return std::nullopt;
  return walk_object_key{
      .inode = found.st_ino,
      .bytes = static_cast<uint64_t>(found.st_size),
      .device = kernel_device(gnu_dev_major(found.st_dev), gnu_dev_minor(found.st_dev)),
      .is_generated = 0};
}

std::string executable_of(uint32_t pid) {
  std::error_code failed;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), failed);
}

/// Its compiler maps a page of the dump, so that profilers learn of it.
bool maps_jit_dump(uint32_t pid) {
  bool maps = false;
  for_each_code_mapping(static_cast<pid_t>(pid), [&](const ProcMapping& mapping) {
    maps |= is_jit_dump_name(mapping.path);
  });
  return maps;
}

walk_object_key generated_code_of(uint32_t pid) {
  return {.inode = 0, .bytes = 0, .device = pid, .is_generated = 1};
}

walk_object unloaded(uint32_t state) {
  return {.state = state,
          .table = 0,
          .row_count = 0,
          .python = 0,
          .used_ns = 0,
          .is_met = 0,
          .ruby = 0};
}

/// An object whose table there is no memory for stays without.
template <typename Work>
void if_memory_suffices(const Work& work) {
  (void)within_memory("an unwinding table", [&]() -> Result<> {
    work();
    return {};
  });
}

/// Chains end where a table is missing: on a busy machine the program would run, and be sampled,
/// for a long time before it is this thread's turn.
void be_urgent() {
  constexpr int kUrgent = -15;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kUrgent);
}

/// "#!/usr/bin/python3 -u": the program that runs a script.
std::string interpreter_of(const std::string& script) {
  constexpr size_t kMostBytes = 256;
  Result<Fd> fd = open_regular(script);
  char begin[kMostBytes];
  ssize_t size = fd ? ::read(fd->get(), begin, sizeof begin) : 0;
  std::string_view text(begin, static_cast<size_t>(std::max<ssize_t>(size, 0)));
  if (!text.starts_with("#!")) return {};
  text = trim(text.substr(2, text.find('\n') - 2));
  return std::string(text.substr(0, text.find_first_of(" \t")));
}

}  // namespace

ObjectTables::ObjectTables(StackWalker& walker, Options options)
    : walker_(walker), options_(std::move(options)), finder_(options_.files) {
  for (uint32_t slot = 0; slot < WALK_TABLES; ++slot) free_slots_.push_back(slot);
}

ObjectTables::~ObjectTables() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  ahead_changed_.notify_all();
  thread_.join();
  ahead_thread_.join();
}

Result<> ObjectTables::start() {
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.valid())
    return fail(ErrorCode::kFailed, "cannot create an eventfd: {}", std::strerror(errno));
  thread_ = std::thread([this] { work(); });
  ahead_thread_ = std::thread([this] { work_ahead(); });
  return {};
}

void ObjectTables::work() {
  constexpr int kDumpsEvery_ms = 2000;
  be_urgent();
  while (true) {
    pollfd fds[] = {{walker_.requests(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    int ready = ::poll(fds, std::size(fds), without_dump_.empty() ? -1 : kDumpsEvery_ms);
    if ((ready < 0 && errno != EINTR) || fds[1].revents != 0) return;
    if_memory_suffices([&] {
      if (ready == 0) look_for_dumps();
      for (const walk_request& request : walker_.take_requests()) serve(request);
    });
  }
}

void ObjectTables::load_ahead(Object object) {
  {
    std::lock_guard lock(mutex_);
    ahead_.push_back(std::move(object));
  }
  ahead_changed_.notify_one();
}

void ObjectTables::work_ahead() {
  be_urgent();
  std::unique_lock lock(mutex_);
  while (true) {
    ahead_changed_.wait(lock, [this] { return is_stopping_ || !ahead_.empty(); });
    if (is_stopping_) return;
    Object object = std::move(ahead_.front());
    ahead_.pop_front();
    lock.unlock();
    if_memory_suffices([&] {
      if (!is_loaded(object.key)) load(object);
      load_needed(object);
    });
    lock.lock();
  }
}

/// Only readers know what jitdumps will say: the walker goes on copying stacks.
void ObjectTables::serve_generated_code(uint32_t pid) {
  if (maps_jit_dump(pid)) return;
  walker_.put_object(generated_code_of(pid), unloaded(WALK_WITHOUT_TABLE));
  without_dump_.push_back(pid);
}

/// Compilers may begin to write dumps later.
void ObjectTables::look_for_dumps() {
  std::erase_if(without_dump_, [this](uint32_t pid) {
    bool is_gone = ::access(fmt::format("/proc/{}", pid).c_str(), F_OK) != 0;
    if (is_gone) walker_.forget_object(generated_code_of(pid));
    bool has_dump = !is_gone && maps_jit_dump(pid);
    if (has_dump) walker_.put_object(generated_code_of(pid), unloaded(WALK_REQUESTED));
    return is_gone || has_dump;
  });
}

void ObjectTables::serve(const walk_request& request) {
  if (request.key.is_generated != 0) return serve_generated_code(request.key.device);
  Object object{.key = request.key, .path = {}, .pid = request.pid};
  if (request.key.inode == 0) {
    object.path = kVdso;
  } else if (request.start == 0) {
    object.path = executable_of(request.pid);
  } else {
    for_each_code_mapping(static_cast<pid_t>(request.pid), [&](const ProcMapping& mapping) {
      if (mapping.start <= request.start && request.start < mapping.end) object.path = mapping.path;
    });
  }
  // The process is gone: the next one that maps the object asks again.
  if (object.path.empty()) return walker_.forget_object(request.key);
  bool is_met = request.start != 0;
  if (is_met && !is_loaded(object.key)) load(object);
  load_ahead(std::move(object));
}

void ObjectTables::collect(pid_t pid, std::vector<Object>& objects) const {
  for_each_code_mapping(pid, [&](const ProcMapping& mapping) {
    if (mapping.inode == 0) return;
    std::optional<uint64_t> bytes = size_of(pid, mapping);
    if (!bytes) return;
    objects.push_back({.key = {.inode = mapping.inode,
                               .bytes = *bytes,
                               .device = kernel_device(mapping.major, mapping.minor),
                               .is_generated = 0},
                       .path = std::string(mapping.path),
                       .pid = static_cast<uint32_t>(pid)});
  });
}

void ObjectTables::load_mapped(std::span<const pid_t> pids) {
  std::vector<pid_t> all;
  if (pids.empty()) pids = all = all_processes();
  std::vector<Object> objects = {{.key = {}, .path = std::string(kVdso)}};
  for (pid_t pid : pids) collect(pid, objects);
  load_all(std::move(objects));
}

void ObjectTables::load_program(const std::string& path) {
  for (const std::string& name : {path, interpreter_of(path)}) {
    std::error_code failed;
    std::string file = std::filesystem::canonical(name, failed);
    std::optional<walk_object_key> key = key_of(file);
    if (failed || !key) continue;
    Object object{.key = *key, .path = file, .pid = static_cast<uint32_t>(::getpid())};
    if (!is_known(*key)) load(object);
    load_needed(object);
  }
}

bool ObjectTables::is_known(const walk_object_key& key) const {
  std::lock_guard lock(mutex_);
  return objects_.contains(key);
}

bool ObjectTables::is_loaded(const walk_object_key& key) const {
  std::lock_guard lock(mutex_);
  auto known = objects_.find(key);
  return known != objects_.end() && known->second.slot;
}

void ObjectTables::load_all(std::vector<Object> objects) {
  std::set<walk_object_key, ObjectOrder> seen;
  std::erase_if(objects, [&](const Object& object) {
    return is_known(object.key) || !seen.insert(object.key).second;
  });
  for (size_t first = 0; first < objects.size(); first += kObjectsAtOnce) {
    std::vector<std::optional<Prepared>> prepared(std::min(kObjectsAtOnce, objects.size() - first));
    parallel_for(prepared.size(),
                 [&](size_t i) { prepared[i] = prepare(std::move(objects[first + i])); });
    std::vector<Prepared> all;
    for (std::optional<Prepared>& one : prepared) all.push_back(std::move(*one));
    publish(all);
  }
}

/// A program's libraries follow it within a millisecond: they are loaded before they are asked for.
void ObjectTables::load_needed(const Object& object) {
  std::set<walk_object_key, ObjectOrder> seen;
  std::vector<Prepared> libraries;
  std::vector<std::string> paths = needed_libraries(object.path);
  while (!paths.empty()) {
    std::string path = std::move(paths.back());
    paths.pop_back();
    std::optional<walk_object_key> key = key_of(path);
    if (!key || is_known(*key) || !seen.insert(*key).second) continue;
    std::ranges::move(needed_libraries(path), std::back_inserter(paths));
    libraries.push_back(prepare({.key = *key, .path = std::move(path), .pid = object.pid}));
  }
  publish(libraries);
}

ObjectTables::Unwinding ObjectTables::read(const Object& object) const {
  Unwinding result;
  if (object.path == kVdso) {
    if (Result<ElfFile> vdso = ElfFile::view(vdso_bytes(), std::string(kVdso))) {
      result.table = CfiTable::build(*vdso, nullptr);
      result.segments = vdso->segments();
    }
    return result;
  }
  FoundObject found = finder_.find(
      {.path = object.path, .pids = {object.pid}, .inode = object.key.inode, .by_inode = true});
  if (!found.usable()) return result;
  const ElfFile& file = found.runtime ? *found.runtime : *found.symbols;
  if (file.machine() != kMachine) return result;
  const ElfFile* debug = found.runtime && found.symbols ? &*found.symbols : nullptr;
  result.segments = found.segments();
  if (options_.interpreters) result.interpreters = find_interpreters(file);
  ObjectCache cache(options_.files.object_cache);
  std::string_view kind = debug != nullptr ? "cfi+debug" : "cfi";
  if (auto kept = cache.find(file.build_id(), kind, CfiTable::kPackedVersion)) {
    if (auto table = CfiTable::unpack(kept->bytes())) {
      result.table = std::move(*table);
      return result;
    }
  }
  result.table = CfiTable::build(file, debug);
  if (result.table.row_count() >= kWorthCaching)
    cache.keep(file.build_id(), kind, CfiTable::kPackedVersion, result.table.pack());
  return result;
}

ObjectTables::Prepared ObjectTables::prepare(Object object) const {
  Unwinding unwinding = read(object);
  Prepared result{std::move(object), WalkRules(rules_.machine()), {}, {}};
  if (!unwinding.table.empty())
    result.rows = walk_rows(unwinding.table, unwinding.segments, result.rules);
  result.interpreters = std::move(unwinding.interpreters);
  return result;
}

void ObjectTables::load(Object object) {
  Prepared one = prepare(std::move(object));
  publish({&one, 1});
}

void ObjectTables::publish(std::span<Prepared> all) {
  std::lock_guard lock(mutex_);
  Batch batch;
  for (Prepared& one : all) {
    rules_.adopt(one.rules, one.rows);
    std::span<const walk_rule> added = rules_.added(rules_put_);
    if (!added.empty() && walker_.put_rules(static_cast<uint32_t>(rules_put_), added))
      rules_put_ += added.size();
    Object& kept = objects_.try_emplace(one.object.key, one.object).first->second;
    if (kept.slot) continue;
    std::span<const walk_row> rows = one.rows;
    walk_object entry = unloaded(rows.empty() ? WALK_WITHOUT_TABLE : WALK_REQUESTED);
    entry.row_count = static_cast<uint32_t>(rows.size());
    ObjectInterpreters::Numbers numbers = interpreters_.add(
        one.object.key, one.object.path, one.interpreters,
        [&](uint64_t start, uint64_t end) { return usual_frame_bytes(rows, rules_, start, end); });
    entry.python = numbers.python;
    entry.ruby = numbers.ruby;
    entry.used_ns = monotonic_ns();  // or it would be the first to go
    bool is_put = !rows.empty() && rules_put_ == rules_.size() &&
                  make_room(rows.size_bytes(), batch) && batch_table(kept, rows, entry, batch);
    if (!is_put) walker_.put_object(one.object.key, entry);
  }
  show(batch);
}

/// Makes a table and gives it a place. Walks find it when the batch is shown.
bool ObjectTables::batch_table(Object& object, std::span<const walk_row> rows,
                               const walk_object& entry, Batch& batch) {
  Fd table = StackWalker::make_table(rows);
  if (!table.valid()) return false;
  object.slot = free_slots_.front();
  object.bytes = rows.size_bytes();
  free_slots_.pop_front();
  bytes_ += object.bytes;
  batch.slots.push_back(*object.slot);
  batch.tables.push_back(table.get());
  batch.owned.push_back(std::move(table));
  batch.entries.emplace_back(&object, entry);
  return true;
}

/// Tables first, then the objects that lead to them.
void ObjectTables::show(Batch& batch) {
  if (batch.slots.empty()) return;
  bool is_put = walker_.put_tables(batch.slots, batch.tables);
  for (auto& [object, entry] : batch.entries) {
    if (is_put) {
      entry.state = WALK_LOADED;
      entry.table = *object->slot;
    } else {
      free_slot(*object);
    }
    walker_.put_object(object->key, entry);
  }
  batch = {};
}

void ObjectTables::free_slot(Object& object) {
  walker_.drop_table(*object.slot);
  free_slots_.push_back(*object.slot);
  bytes_ -= object.bytes;
  object.slot.reset();
}

std::vector<std::string> ObjectTables::unknown_interpreters() const {
  std::lock_guard lock(mutex_);
  return interpreters_.unknown();
}

bool ObjectTables::make_room(uint64_t bytes, Batch& batch) {
  if (bytes > options_.most_bytes) return false;
  auto is_room = [&] { return bytes_ + bytes <= options_.most_bytes && !free_slots_.empty(); };
  if (is_room()) return true;
  show(batch);  // what is not visible yet would seem to be unused
  while (!is_room())
    if (!drop_oldest()) return false;
  return true;
}

bool ObjectTables::drop_oldest() {
  Object* oldest = nullptr;
  uint64_t oldest_ns = UINT64_MAX;
  for (auto& [key, object] : objects_) {
    if (!object.slot) continue;
    std::optional<walk_object> entry = walker_.find_object(object.key);
    uint64_t used_ns = entry ? entry->used_ns : 0;
    if (oldest != nullptr && used_ns >= oldest_ns) continue;
    oldest = &object;
    oldest_ns = used_ns;
  }
  if (oldest == nullptr) return false;
  walker_.forget_object(oldest->key);
  free_slot(*oldest);
  ++dropped_;
  return true;
}

std::string ObjectTables::name_of(const walk_object_key& key) const {
  std::lock_guard lock(mutex_);
  if (key.is_generated != 0) return "[code without a file]";
  auto found = objects_.find(key);
  return found == objects_.end() ? fmt::format("[inode {}]", key.inode) : found->second.path;
}

ObjectTables::Figures ObjectTables::figures() const {
  std::lock_guard lock(mutex_);
  auto loaded = std::ranges::count_if(
      objects_, [](const auto& entry) { return entry.second.slot.has_value(); });
  return {.objects = objects_.size(),
          .loaded = static_cast<size_t>(loaded),
          .bytes = bytes_,
          .dropped = dropped_};
}

}  // namespace sonde
