#include "analysis/timelines/io_calls.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include <tsl/robin_map.h>

#include "machine/machine.h"
#include "perfdata/records/sideband.h"
#include "replay/passes/tracepoint_pipeline.h"

namespace sonde {
namespace {

using view::IoKind;
using view::TimelineIo;
using enum IoKind;

constexpr std::array kCalls{
    IoCallName{"read", kDiskIn},      IoCallName{"pread64", kDiskIn},
    IoCallName{"readv", kDiskIn},     IoCallName{"preadv", kDiskIn},
    IoCallName{"write", kDiskOut},    IoCallName{"pwrite64", kDiskOut},
    IoCallName{"writev", kDiskOut},   IoCallName{"pwritev", kDiskOut},
    IoCallName{"sync", kSync},        IoCallName{"sync_file_range", kSync},
    IoCallName{"fsync", kSync},       IoCallName{"msync", kSync},
    IoCallName{"recvfrom", kNetIn},   IoCallName{"recvmmsg", kNetIn},
    IoCallName{"recvmsg", kNetIn},    IoCallName{"sendto", kNetOut},
    IoCallName{"sendmsg", kNetOut},   IoCallName{"sendmmsg", kNetOut},
    IoCallName{"epoll_pwait", kPoll}, IoCallName{"epoll_wait", kPoll},
    IoCallName{"poll", kPoll},        IoCallName{"ppoll", kPoll},
    IoCallName{"pselect6", kPoll},    IoCallName{"select", kPoll},
};
constexpr std::string_view kEnter = "syscalls:sys_enter_", kExit = "syscalls:sys_exit_";
constexpr uint8_t kExitBit = 0x80;  // of an item's kind; the rest is the index into kCalls

bool moves_bytes(IoKind kind) {
  return kind != kSync && kind != kPoll && kind != kFailed;
}

struct IoRequests {
  std::vector<std::string> names;
  std::vector<TracepointRequest> requests;

  IoRequests() {
    for (const IoCallName& call : kCalls) {
      names.push_back(std::string(kEnter) + std::string(call.name));
      names.push_back(std::string(kExit) + std::string(call.name));
    }
    for (uint8_t i = 0; i < kCalls.size(); ++i) {
      requests.push_back({names[2u * i], i, {"fd"}});
      requests.push_back({names[2u * i + 1], static_cast<uint8_t>(i | kExitBit), {"ret"}});
    }
  }
};

class IoBuilder {
 public:
  explicit IoBuilder(const IoOptions& options) : options_(options) {
    timeline_.subject = view::TimelineSubject::kIo;
  }

  void take(const TracepointItem& item) {
    if (timeline_.start_ns == 0) timeline_.start_ns = item.time;
    timeline_.end_ns = std::max(timeline_.end_ns, item.time);
    Task& task = task_of(item);
    if ((item.kind & kExitBit) == 0) {
      task.call = item.kind;
      task.start_ns = item.time;
      bool has_fd = kCalls[item.kind].kind != kPoll && kCalls[item.kind].name != "sync";
      task.fd = has_fd ? static_cast<int32_t>(item.values[0]) : -1;
      return;
    }
    uint8_t call = item.kind & static_cast<uint8_t>(~kExitBit);
    if (task.call != call) return;  // its entry is not in the recording
    task.call = kNone;
    finish(task, kCalls[call].kind, item.time, static_cast<int64_t>(item.values[0]));
  }
  void name(uint32_t pid, uint32_t tid, std::string_view comm) {
    auto found = by_tid_.find(tid);
    if (found == by_tid_.end())
      names_[tid] = comm;
    else
      timeline_.threads[tasks_[found->second].thread].name = comm;
    if (pid == tid) names_[pid] = comm;
  }

  view::Timeline result() && {
    for (view::TimelineThread& thread : timeline_.threads)
      if (auto process = names_.find(thread.pid); process != names_.end())
        thread.process_name = process->second;
    std::ranges::stable_sort(timeline_.threads, std::ranges::greater(),
                             &view::TimelineThread::io_bytes);
    return std::move(timeline_);
  }

 private:
  static constexpr uint8_t kNone = UINT8_MAX;
  struct Task {
    uint8_t call = kNone;
    int32_t fd = -1;
    uint64_t start_ns = 0;
    size_t thread = 0;
  };

  Task& task_of(const TracepointItem& item) {
    auto [found, is_new] = by_tid_.try_emplace(item.tid, tasks_.size());
    if (is_new) {
      tasks_.emplace_back().thread = timeline_.threads.size();
      view::TimelineThread& thread = timeline_.threads.emplace_back();
      thread.pid = item.pid;
      thread.tid = item.tid;
      auto name = names_.find(item.tid);
      thread.name = name != names_.end() ? name->second : ":" + std::to_string(item.tid);
    }
    return tasks_[found->second];
  }

  void finish(const Task& task, IoKind kind, uint64_t end_ns, int64_t result) {
    if (options_.skip_eagain && result == -EAGAIN) return;
    view::TimelineThread& thread = timeline_.threads[task.thread];
    TimelineIo io{.start_ns = task.start_ns, .end_ns = end_ns, .kind = kind, .fd = task.fd};
    if (result < 0) {
      io.kind = kFailed;
      io.error = static_cast<int32_t>(-result);
    } else if (moves_bytes(kind)) {
      io.bytes = static_cast<uint64_t>(result);
      thread.io_bytes += io.bytes;
    }
    // A call's drawn length does not change when the next one begins.
    uint64_t shown_end = std::max(end_ns, task.start_ns + options_.shortest_ns);
    if (!thread.ios.empty() && can_merge(thread.ios.back(), io)) {
      TimelineIo& last = thread.ios.back();
      last.end_ns = std::max(last.end_ns, shown_end);
      last.bytes += io.bytes;
      ++last.calls;
      return;
    }
    io.end_ns = shown_end;
    thread.ios.push_back(io);
  }
  [[nodiscard]] bool can_merge(const TimelineIo& last, const TimelineIo& next) const {
    return last.kind == next.kind && last.error == next.error && last.fd == next.fd &&
           last.end_ns + options_.merge_within_ns >= next.start_ns;
  }

  IoOptions options_;
  view::Timeline timeline_;
  std::vector<Task> tasks_;
  tsl::robin_map<uint32_t, size_t> by_tid_;  // into tasks_
  tsl::robin_map<uint32_t, std::string> names_;
};

}  // namespace

std::span<const IoCallName> io_call_names() {
  return kCalls;
}

bool has_io_calls(const EventTable& events) {
  IoRequests wished;
  return std::ranges::any_of(events.all(), [&](const EventDesc& event) {
    return std::ranges::find(wished.names, event.name) != wished.names.end();
  });
}

view::Timeline io_timeline(FileScan& scan, const IoOptions& options, LossLedger& losses) {
  IoRequests wished;
  TracepointPipeline pipeline(scan, wished.requests, losses);
  pipeline.want_records({abi::kRecordComm});
  IoBuilder builder(options);
  pipeline.run([&](std::span<const TracepointItem> items) {
    for (const TracepointItem& item : items) {
      if (item.kind != TracepointItem::kOther) {
        builder.take(item);
      } else if (is_guest_mode(pipeline.record(item).cpu_mode())) {
        continue;
      } else if (auto comm = decode_as<CommRecord>(pipeline.record(item), pipeline.layout(item))) {
        builder.name(comm->pid, comm->tid, name_given(comm->tid, comm->comm));
      }
    }
  });
  return std::move(builder).result();
}

}  // namespace sonde
