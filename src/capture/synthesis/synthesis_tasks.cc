#include "capture/synthesis/synthesis_tasks.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "capture/recorders/record_scan.h"
#include "capture/synthesis/object_build_id.h"
#include "perfdata/records/record_encoder.h"
#include "store/proc_maps.h"

namespace sonde {
namespace {

/// The parts of /proc/PID/task/TID/stat that are needed.
struct TaskStat {
  std::string comm;
  pid_t parent = 0;
};

std::optional<TaskStat> read_stat(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  // pid (comm) state ppid …: the comm may contain blanks and parentheses.
  size_t open = text->find('(');
  size_t close = text->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  std::vector<std::string_view> rest = split(std::string_view(*text).substr(close + 1), ' ');
  if (rest.size() < 3) return std::nullopt;
  return TaskStat{text->substr(open + 1, close - open - 1),
                  static_cast<pid_t>(parse_number(rest[2]).value_or(0))};
}

class ProcessSynthesis {
 public:
  ProcessSynthesis(const TaskSynthesis& options, ByteBuilder& out)
      : options_(options), out_(out), directory_(options.proc) {}

  /// Writes nothing if the process is gone.
  void whole_process(pid_t pid) {
    std::string process = fmt::format("{}/{}", directory_, pid);
    bool maps_done = false;
    for (pid_t tid : numeric_entries(process + "/task")) {
      std::optional<TaskStat> stat = read_stat(fmt::format("{}/task/{}/stat", process, tid));
      if (!stat) continue;
      auto parent = static_cast<uint32_t>(tid == pid ? stat->parent : pid);
      encode(
          TaskRecord{.pid = u32(pid), .ppid = parent, .tid = u32(tid), .ptid = parent, .time = 0},
          frame(abi::kRecordFork, abi::kMiscForkExec), out_);
      namespaces(pid, tid);
      encode(CommRecord{u32(pid), u32(tid), stat->comm, false}, frame(), out_);
      if (!std::exchange(maps_done, true) && options_.maps) mappings(pid, pid);
    }
  }

  /// `mapped` holds the processes whose mappings have been written already: threads share them.
  bool one_thread(pid_t tid, std::vector<pid_t>& mapped) {
    Result<std::string> status = read_file(fmt::format("{}/{}/status", directory_, tid));
    if (!status) return false;
    pid_t pid = tgid_of(*status).value_or(tid);
    std::string comm =
        read_file(fmt::format("{}/{}/comm", directory_, tid)).value_or(std::string());
    encode(CommRecord{u32(pid), u32(tid), trim(comm), false}, frame(), out_);
    namespaces(pid, tid);
    if (!options_.maps || std::ranges::find(mapped, pid) != mapped.end()) return true;
    mapped.push_back(pid);
    mappings(pid, pid);
    return true;
  }

  void namespaces(pid_t pid, pid_t tid) {
    if (!options_.namespaces) return;
    // The order of perf_event_open(2): NET_NS_INDEX, UTS, IPC, PID, USER, MNT, CGROUP.
    static constexpr std::string_view kNames[] = {"net",  "uts", "ipc",   "pid",
                                                  "user", "mnt", "cgroup"};
    ByteBuilder links;
    for (std::string_view name : kNames) {
      struct stat status{};
      std::string path = fmt::format("{}/{}/ns/{}", directory_, tid, name);
      bool known = ::stat(path.c_str(), &status) == 0;
      links.u64(known ? status.st_dev : 0);
      links.u64(known ? status.st_ino : 0);
    }
    encode(NamespacesRecord{u32(pid), u32(tid), std::size(kNames), {links.view(), kHostOrder}},
           frame(), out_);
  }

 private:
  static uint32_t u32(pid_t id) { return static_cast<uint32_t>(id); }

  static std::optional<pid_t> tgid_of(std::string_view status) {
    size_t at = status.find("\nTgid:");
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view line = status.substr(at + 6);
    line = trim(line.substr(0, line.find('\n')));
    if (std::optional<uint64_t> number = parse_number(line)) return static_cast<pid_t>(*number);
    return std::nullopt;
  }

  [[nodiscard]] RecordFrame frame(uint32_t type = 0, uint16_t misc = 0) const {
    return {.type = type, .misc = misc, .attr = options_.attr, .id = kSynthesisedId};
  }

  void mappings(pid_t pid, pid_t tid) {
    Result<std::string> text = read_maps(pid);
    if (!text) return;
    std::string_view rest = *text;
    while (!rest.empty()) {
      size_t end = rest.find('\n');
      std::optional<ProcMapping> mapping = parse_proc_mapping(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (mapping && (mapping->executable || (options_.data_maps && mapping->readable)))
        one_mapping(pid, tid, *mapping);
    }
  }

  /// The whole file, or as much as could be read within the per-process time limit.
  [[nodiscard]] Result<std::string> read_maps(pid_t pid) {
    std::string path = fmt::format("{}/{}/maps", directory_, pid);
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return fail(ErrorCode::kNotFound, "{} cannot be opened", path);
    auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.map_timeout_ms);
    std::string text;
    size_t have = 0;
    while (true) {
      text.resize(have + 32 * 1024);
      ssize_t got = ::read(fd.get(), text.data() + have, text.size() - have);
      if (got <= 0) break;
      have += static_cast<size_t>(got);
      if (std::chrono::steady_clock::now() < deadline) continue;
      timed_out_ = true;
      break;
    }
    text.resize(have);
    return text;
  }

  void one_mapping(pid_t pid, pid_t tid, const ProcMapping& mapping) {
    MmapRecord record{};
    record.pid = u32(pid);
    record.tid = u32(tid);
    record.start = RuntimeAddr(mapping.start);
    record.length = mapping.end - mapping.start;
    record.offset = FileOffset(mapping.offset);
    record.path = mapping.path.empty() || mapping.path.starts_with("/anon_hugepage")
                      ? std::string_view("//anon")
                      : mapping.path;
    record.major = mapping.major;
    record.minor = mapping.minor;
    record.inode = mapping.inode;
    record.protection = static_cast<uint32_t>((mapping.readable ? PROT_READ : 0) |
                                              (mapping.writable ? PROT_WRITE : 0) |
                                              (mapping.executable ? PROT_EXEC : 0));
    record.flags = mapping.shared ? MAP_SHARED : MAP_PRIVATE;
    record.is_v2 = true;
    std::string build_id;
    if (options_.build_ids && record.path.starts_with('/') && mapping.inode != 0) {
      build_id = object_build_id({.path = std::string(record.path),
                                  .pid = pid,
                                  .file = {mapping.major, mapping.minor, mapping.inode},
                                  .pids = {u32(pid)}})
                     .value_or(std::string());
      record.build_id = as_bytes(build_id);
    }
    auto misc =
        static_cast<uint16_t>(abi::kMiscUser | (timed_out_ ? abi::kMiscProcMapParseTimeout : 0) |
                              (mapping.executable ? 0 : abi::kMiscMmapData));
    encode(record, frame(0, misc), out_);
  }

  const TaskSynthesis& options_;
  ByteBuilder& out_;
  const std::string& directory_;
  bool timed_out_ = false;
};

/// Whether the kernel gives this process numbers of a PID namespace of its own; false where /proc
/// does not say.
bool in_pid_namespace(const std::string& proc) {
  constexpr ino_t kOfTheHost = 0xEFFFFFFC;  // PROC_PID_INIT_INO, linux/proc_ns.h
  struct stat status{};
  return ::stat((proc + "/self/ns/pid").c_str(), &status) == 0 && status.st_ino != kOfTheHost;
}

}  // namespace

void synthesise_all_tasks(const TaskSynthesis& options, ByteBuilder& out) {
  // All others have the number 0, and may do nothing that would say so.
  if (in_pid_namespace(options.proc))
    encode(CommRecord{0, 0, "[outside]", false},
           RecordFrame{.attr = options.attr, .id = kSynthesisedId}, out);
  std::vector<pid_t> pids = numeric_entries(options.proc);
  std::vector<ByteBuilder> parts(pids.size());
  parallel_for(pids.size(),
               [&](size_t i) { ProcessSynthesis(options, parts[i]).whole_process(pids[i]); });
  for (const ByteBuilder& part : parts) out.bytes(part.view());
}

void synthesise_threads(const std::vector<ThreadEntry>& threads, const TaskSynthesis& options,
                        LossLedger& losses, ByteBuilder& out) {
  std::vector<pid_t> mapped;
  for (const ThreadEntry& thread : threads)
    if (!ProcessSynthesis(options, out).one_thread(thread.tid, mapped))
      losses.add(LossKind::k_task_vanished, 1, fmt::format("thread {}", thread.tid));
}

void synthesise_command(pid_t pid, const TaskSynthesis& options, ByteBuilder& out) {
  auto id = static_cast<uint32_t>(pid);
  encode(CommRecord{id, id, "perf-exec", false},
         RecordFrame{.attr = options.attr, .id = kSynthesisedId}, out);
  ProcessSynthesis(options, out).namespaces(pid, pid);
}

}  // namespace sonde
