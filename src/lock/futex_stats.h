// Waits in futex(2), accumulated by caller, futex, thread or owner, in the same rows as kernel
// locks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "lock/futex_kind.h"
#include "lock/futex_pipeline.h"
#include "lock/lock_row.h"
#include "symbol/data_symbols.h"

namespace sonde {

class FutexStats {
 public:
  struct Options {
    LockGrouping grouping = LockGrouping::kCaller;
    FutexKindFilter kinds = {};
    std::vector<std::string> locks = {};      // addresses, or variables by name; empty: all
    std::vector<std::string> functions = {};  // parts of functions' names; empty: all
    size_t max_stack = 8;                     // frames that distinguish callers
    bool keep_stacks = false;
  };
  /// Waits that did not end with a wakeup.
  struct Apart {
    uint64_t count = 0, total_ns = 0;
  };

  /// `session` must outlive this.
  FutexStats(Options options, const Session& session);

  void consume(const FutexWait& wait);

  /// A row's flags are its FutexKind; its name is that of the caller, of the thread, or of the
  /// variable with its object, "the_lock (server)": empty if unknown.
  [[nodiscard]] std::vector<LockRow> rows() const;
  /// Waits that timed out: in no row.
  [[nodiscard]] const Apart& timed_out() const { return timed_out_; }
  /// Waits that were still going on when their thread, or the recording, ended: in the rows as if
  /// they had ended.
  [[nodiscard]] const Apart& lasting() const { return lasting_; }

 private:
  /// What a call chain says; one per distinct chain.
  struct Place {
    FutexCaller caller;
    std::string name;
    uint64_t key = 0;
    bool passes = true;
  };
  const Place& place_of(const FutexWait& wait);
  [[nodiscard]] Place make_place(const FutexWait& wait, std::span<const FrameId> chain) const;
  [[nodiscard]] std::span<const FrameId> chain_of(const FutexWait& wait) const;
  [[nodiscard]] std::string_view function_of(FrameId id) const;
  [[nodiscard]] std::string frame_label(FrameId id) const;
  [[nodiscard]] bool is_chosen(const FutexWait& wait);
  const std::string& name_word(const FutexWait& wait);
  [[nodiscard]] uint32_t owner_of(const FutexWait& wait, FutexKind kind) const;
  LockRow& row_of(const FutexWait& wait, const Place& place);

  Options options_;
  const Session& session_;
  DataSymbols variables_;
  tsl::robin_map<uint64_t, Place, NumberHash> places_;  // by chain and operation
  struct WordKey {
    uint64_t word;
    uint32_t pid;
    bool operator==(const WordKey&) const = default;
  };
  struct WordHash {
    size_t operator()(const WordKey& key) const {
      return NumberHash()(key.word ^ uint64_t{key.pid} << 40);
    }
  };
  tsl::robin_map<WordKey, std::string, WordHash> word_names_;
  tsl::robin_map<WordKey, uint32_t, WordHash> by_key_;  // pid 0 except for futexes
  std::vector<LockRow> rows_;
  Apart timed_out_, lasting_;
};

}  // namespace sonde
