// lock record: waits for the kernel's locks, or with --futex for those of programs.
#include <unistd.h>

#include "cli/flag_parser.h"
#include "cmd/lock/lock.h"
#include "event/print_fmt/tracefs.h"
#include "lock/futex_kind.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

constexpr std::string_view kLockRecordText =
    R"(Records waits for kernel locks while the command runs: where each began, and when it ended (lock:contention_begin and contention_end, Linux 5.19). All of record's options may follow; -a records the whole machine.

With --futex it records where threads of programs sleep for locks, conditions and the like: the calls of futex(2) and its variants, with call chains unwound from copies of the stack, and their returns. With --futex --use-bpf, BPF programs add up the waits instead: a few kilobytes, call chains by frame pointers.)";

class LockRecord final : public Command {
 public:
  explicit LockRecord(bool dumps) : dumps_(dumps) {}

  Result<> configure(const Config& config) override {
    TRY(shown_->configure(config));
    return recorder_->configure(config);
  }

  /// The flags are record's. What to record depends on some of them, so they are noted, and parsed
  /// again after the words that this adds.
  void declare(FlagTable& flags) override {
    shown_->declare(flags);
    flags.watch([this](const std::string& word, const Flag::Use& use) {
      if (word.size() == 2) {
        words_.push_back(word);
        if (use.value) words_.back() += *use.value;
        return;
      }
      std::string name = use.negated ? "--no-" + word.substr(2) : word;
      words_.push_back(use.value ? fmt::format("{}={}", name, *use.value) : name);
    });
    flags.description(kLockRecordText);
    flags.boolean(0, "futex", futex_,
                  "record waits of programs in futex(2), instead of waits for kernel locks");
    flags.boolean(0, "use-bpf", use_bpf_, "with --futex: BPF programs add up the waits");
  }

  Result<int> run(Env& env, const Arguments& arguments) override {
    if (dumps_)
      return fail(ErrorCode::kFailed,
                  "Error: -D dumps a recording that exists; give it to '{} lock report'", env.tool);
    if (use_bpf_ && !futex_)
      return fail(
          ErrorCode::kUsage,
          "Error: --use-bpf needs --futex; '{} lock contention -b' adds up waits for kernel locks "
          "without a recording",
          env.tool);
    std::vector<std::string> words = TRY(first_words());
    words.insert(words.end(), words_.begin(), words_.end());
    FlagTable flags;
    recorder_->declare(flags);
    ParseOutcome outcome = parse_flags(flags, words);
    if (auto* bad = std::get_if<BadFlags>(&outcome))
      return std::unexpected(Error{ErrorCode::kFailed, bad->message});
    if (auto* error = std::get_if<Error>(&outcome)) return std::unexpected(*error);
    return recorder_->run(env, arguments);
  }

 private:
  Result<std::vector<std::string>> first_words() const {
    if (use_bpf_) return std::vector<std::string>{"-e", "dummy:u", "--futex"};
    return futex_ ? futex_words() : kernel_words();
  }
  static Result<std::vector<std::string>> kernel_words() {
    Tracefs tracefs;
    if (!tracefs.has("lock", "contention_begin"))
      return fail(ErrorCode::kUnsupported,
                  "tracepoint lock:contention_begin is not enabled: it needs Linux 5.19, and "
                  "permission to read tracefs (root)");
    return std::vector<std::string>{"-R",
                                    "-m",
                                    "1024",
                                    "-c",
                                    "1",
                                    "--call-graph",
                                    "fp,8",
                                    "-e",
                                    "lock:contention_begin",
                                    "-e",
                                    "lock:contention_end"};
  }
  static Result<std::vector<std::string>> futex_words() {
    Tracefs tracefs;
    if (!tracefs.has("syscalls", "sys_enter_futex"))
      return fail(ErrorCode::kUnsupported,
                  "tracepoint syscalls:sys_enter_futex is not available: it needs a kernel with "
                  "CONFIG_FTRACE_SYSCALLS, and permission to read tracefs (root)");
    std::vector<std::string> words = {"-R", "-c", "1", "--call-graph", "dwarf"};
    for (const std::string call : {"futex", "futex_wait", "futex_waitv"}) {
      if (!tracefs.has("syscalls", "sys_enter_" + call)) continue;
      std::string enter = "syscalls:sys_enter_" + call;
      words.insert(words.end(), {"-e", enter});
      if (call == "futex") words.insert(words.end(), {"--filter", waits_only()});
      words.insert(words.end(), {"-e", "syscalls:sys_exit_" + call + "/call-graph=no/"});
    }
    return words;
  }

  /// Wakes are not waits, and would cost a copy of the stack. The kernel's filters have no masks,
  /// so operations are listed with each combination of their flags.
  static std::string waits_only() {
    constexpr uint32_t kPrivate = 128, kRealTime = 256;
    std::string filter;
    for (uint32_t operation = 0; operation <= kFutexLockPi2; ++operation) {
      if (!is_futex_wait(operation)) continue;
      for (uint32_t flags : {0u, kPrivate, kRealTime, kPrivate | kRealTime})
        filter += fmt::format("{}op=={}", filter.empty() ? "" : "||", operation | flags);
    }
    return filter;
  }

  std::unique_ptr<Command> shown_ = make_record(), recorder_ = make_record();
  std::vector<std::string> words_;  // record's flags, as given
  bool futex_ = false, use_bpf_ = false;
  bool dumps_;  // -D before the subcommand
};

}  // namespace

std::unique_ptr<Command> make_lock_record(const LockOptions& options) {
  return std::make_unique<LockRecord>(options.input.dump);
}

}  // namespace sonde
