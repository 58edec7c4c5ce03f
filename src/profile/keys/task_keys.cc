// Sort keys of who ran where: pid, tid, comm, cpu, socket, cgroup.
#include <cstdlib>

#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

class CommKey final : public KeyOfInput {
 public:
  CommKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    cuts = true;
  }
  uint64_t of_row(RowReader& row) override { return input_.samples.comm[row.sample()].value; }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : name_of(a).compare(name_of(b));
  }
  void text(uint64_t value, std::string& out) const override { out += name_of(value); }
  [[nodiscard]] NameKind names() const override { return NameKind::kTask; }
  /// perf uses the width of the thread's name at the end of the recording.
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t first_sample) const override {
    return input_.details.last_comm(input_.samples.tid[first_sample]).size();
  }

 private:
  [[nodiscard]] std::string_view name_of(uint64_t value) const {
    return input_.strings.view(StringId(static_cast<size_t>(value)));
  }
};

/// A task by number, shown with its last name.
class TaskKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  void text(uint64_t value, std::string& out) const override {
    int32_t tid = shown(value);
    fmt::format_to(std::back_inserter(out), "{:7d}:{}", tid, comm_of(value));
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    int by_number = three_way(shown(a), shown(b));
    return by_number != 0 ? by_number : three_way(a, b);
  }
  [[nodiscard]] std::string identity(uint64_t value, uint32_t /*first_sample*/) const override {
    return std::to_string(shown(value));
  }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return comm_of(value).size() + 8;
  }

 protected:
  [[nodiscard]] virtual std::string_view comm_of(uint64_t value) const = 0;

 private:
  static int32_t shown(uint64_t value) {
    return static_cast<int32_t>(recorded_task(static_cast<uint32_t>(value)));
  }
};

class TidKey final : public TaskKey {
 public:
  using TaskKey::TaskKey;
  uint64_t of_row(RowReader& row) override { return input_.samples.tid[row.sample()]; }

 protected:
  [[nodiscard]] std::string_view comm_of(uint64_t value) const override {
    return input_.details.last_comm(static_cast<uint32_t>(value));
  }
};

class TgidKey final : public TaskKey {
 public:
  using TaskKey::TaskKey;
  uint64_t of_row(RowReader& row) override { return input_.samples.pid[row.sample()]; }

 protected:
  [[nodiscard]] std::string_view comm_of(uint64_t value) const override {
    return input_.details.last_comm(static_cast<uint32_t>(value));
  }
};

/// How many threads were running when the sample was taken.
class ParallelismKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return (*settings_.parallelism)[row.sample()]; }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(a, b); }
  void text(uint64_t value, std::string& out) const override {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// A row is a CPU or a set of CPUs, by number: "007", "-001".
class ProcessorKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return three_way(static_cast<int32_t>(a), static_cast<int32_t>(b));
  }
  void text(uint64_t value, std::string& out) const override {
    auto number = static_cast<int32_t>(value);
    fmt::format_to(std::back_inserter(out), "{}{:03}", number < 0 ? "-" : "", std::abs(number));
  }
};

class CpuKey final : public ProcessorKey {
 public:
  CpuKey(const ProfileInput& input, const KeySettings& settings) : ProcessorKey(input, settings) {
    min_width = 3;
  }
  uint64_t of_row(RowReader& row) override { return input_.samples.cpu[row.sample()]; }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 3;
  }
};

class SocketKey final : public ProcessorKey {
 public:
  SocketKey(const ProfileInput& input, const KeySettings& settings)
      : ProcessorKey(input, settings) {
    min_width = 6;
    right_aligned = true;
  }
  uint64_t of_row(RowReader& row) override {
    return static_cast<uint64_t>(input_.details.socket_of(input_.samples.cpu[row.sample()]));
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 6;
  }
};

class CgroupKey final : public KeyOfInput {
 public:
  CgroupKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    min_width = 6;
    cuts = true;
  }
  uint64_t of_row(RowReader& row) override { return row.details().cgroup; }
  void text(uint64_t value, std::string& out) const override {
    if (value == 0) {
      out += "N/A";
      return;
    }
    std::string_view path = input_.details.cgroup_path(value);
    out += path.empty() ? "unknown" : path;
  }
};

/// The cgroup namespace of the process: device and inode.
class CgroupIdKey final : public KeyOfInput {
 public:
  CgroupIdKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = 20;
  }
  uint64_t of_row(RowReader& row) override {
    Machine::Namespace found = input_.details.cgroup_namespace(row.sample());
    return namespaces_.intern({found.device, found.inode});
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    auto left = namespaces_.at(static_cast<uint32_t>(a));
    auto right = namespaces_.at(static_cast<uint32_t>(b));
    int by_device = three_way(left[0], right[0]);
    return by_device != 0 ? by_device : three_way(left[1], right[1]);
  }
  void text(uint64_t value, std::string& out) const override {
    auto found = namespaces_.at(static_cast<uint32_t>(value));
    fmt::format_to(std::back_inserter(out), "{}/0x{:x}", found[0], found[1]);
  }

 private:
  Interner namespaces_{2};
};

}  // namespace

KeyResult make_comm_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CommKey>(input, settings, "comm", "Command");
}
KeyResult make_parallelism_key(const ProfileInput& input, const KeySettings& settings) {
  if (settings.parallelism == nullptr)
    return fail(ErrorCode::kFailed, "parallelism: there are no context switches to tell it from");
  return make_key<ParallelismKey>(input, settings, "parallelism", "Parallelism");
}
KeyResult make_pid_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TidKey>(input, settings, "pid", "    Pid:Command");
}
KeyResult make_tid_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TidKey>(input, settings, "tid", "    Tid:Command");
}
KeyResult make_tgid_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TgidKey>(input, settings, "tgid", "   Tgid:Command");
}
KeyResult make_cpu_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CpuKey>(input, settings, "cpu", "CPU");
}
KeyResult make_socket_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<SocketKey>(input, settings, "socket", "Socket");
}
KeyResult make_cgroup_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CgroupKey>(input, settings, "cgroup", "Cgroup");
}
KeyResult make_cgroup_id_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<CgroupIdKey>(input, settings, "cgroup_id", "cgroup id (dev/inode)");
}

}  // namespace sonde
