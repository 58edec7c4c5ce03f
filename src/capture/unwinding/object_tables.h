// ObjectTables: gives the BPF stack walker the tables of the objects that run, as they appear.
//
// What is mapped when recording begins is loaded in advance; what appears later when the walker
// first meets it, by a thread of its own: a few milliseconds, or as many as a compiler's table
// takes. Programs that begin, and the libraries that they need, are loaded by a second thread, so
// that no sample waits for a table that nobody may need. An object is one file, whoever maps it.
// When the tables together would exceed their memory, those that have not been used for the longest
// time are dropped; they are loaded again when they are met again. An object whose table does not
// fit at all, and code that a jitdump describes, stay without: the walker copies their stacks.
//
//   ObjectTables tables(walker, {.files = finder_options({}, env)});
//   tables.load_mapped(pids);
//   tables.start();
//   … tables.name_of(chain.object) …      for messages
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "bpf/unwinding/stack_walker.h"
#include "bpf/unwinding/walk_machine.h"
#include "capture/unwinding/chain_joiner.h"
#include "capture/unwinding/interpreters/object_interpreters.h"
#include "capture/unwinding/walk_table.h"
#include "symbol/object_finder.h"

namespace sonde {

class ObjectTables {
 public:
  struct Options {
    FinderOptions files;
    /// For all tables. A table takes eight bytes per row: libc's 230 KB, a large compiler's 4 MB.
    uint64_t most_bytes = uint64_t{256} << 20;
    /// Whether walks go through the frames of interpreters.
    bool interpreters = true;
  };
  /// `walker` must outlive this object.
  ObjectTables(StackWalker& walker, Options options);
  ~ObjectTables();
  ObjectTables(const ObjectTables&) = delete;
  ObjectTables& operator=(const ObjectTables&) = delete;

  /// Loads what these processes map, or all processes if there are none.
  void load_mapped(std::span<const pid_t> pids);
  /// Loads a program that is about to be run, and its interpreter.
  void load_program(const std::string& path);
  /// From here on, what the walker asks for is loaded.
  Result<> start();

  /// The path of an object, or what is known instead.
  [[nodiscard]] std::string name_of(const walk_object_key& key) const;
  struct Figures {
    size_t objects = 0, loaded = 0;
    uint64_t bytes = 0, dropped = 0;
  };
  [[nodiscard]] Figures figures() const;
  /// ObjectInterpreters::unknown().
  [[nodiscard]] std::vector<std::string> unknown_interpreters() const;

 private:
  struct Object {
    walk_object_key key;
    std::string path;
    uint32_t pid = 0;  // a process that maps it
    std::optional<uint32_t> slot = {};
    uint64_t bytes = 0;  // of its table
  };
  struct Unwinding {
    CfiTable table;
    SegmentMap segments;
    FoundInterpreters interpreters = {};
  };
  /// What the walker needs of an object; numbers of rules are its own.
  struct Prepared {
    Object object;
    WalkRules rules;
    std::vector<walk_row> rows;
    FoundInterpreters interpreters;
  };
  /// Tables that have a place, and that no walk can see yet: the kernel takes as long for all of
  /// them as for one.
  struct Batch {
    std::vector<uint32_t> slots;
    std::vector<int> tables;  // descriptors
    std::vector<Fd> owned;
    std::vector<std::pair<Object*, walk_object>> entries;
  };
  [[nodiscard]] bool is_known(const walk_object_key& key) const;

  void work();
  void work_ahead();
  void load_ahead(Object object);
  void serve(const walk_request& request);
  void serve_generated_code(uint32_t pid);
  void look_for_dumps();
  void collect(pid_t pid, std::vector<Object>& objects) const;
  void load_all(std::vector<Object> objects);
  void load_needed(const Object& object);
  [[nodiscard]] bool is_loaded(const walk_object_key& key) const;
  [[nodiscard]] Unwinding read(const Object& object) const;
  [[nodiscard]] Prepared prepare(Object object) const;
  void load(Object object);
  void publish(std::span<Prepared> all);
  [[nodiscard]] bool batch_table(Object& object, std::span<const walk_row> rows,
                                 const walk_object& entry, Batch& batch);
  void show(Batch& batch);
  void free_slot(Object& object);
  [[nodiscard]] bool make_room(uint64_t bytes, Batch& batch);
  [[nodiscard]] bool drop_oldest();

  StackWalker& walker_;
  Options options_;
  ObjectFinder finder_;
  mutable std::mutex mutex_;
  std::map<walk_object_key, Object, ObjectOrder> objects_;
  WalkRules rules_{*walk_machine_of(abi::host_arch())};
  size_t rules_put_ = 1;
  std::deque<uint32_t> free_slots_;  // those used last come last: a walk may still be in them
  ObjectInterpreters interpreters_{walker_};
  uint64_t bytes_ = 0;
  uint64_t dropped_ = 0;
  std::vector<uint32_t> without_dump_;  // processes with generated code; only the thread's
  std::deque<Object> ahead_;            // whose programs begin; guarded by mutex_
  std::condition_variable ahead_changed_;
  bool is_stopping_ = false;
  Fd stop_;
  std::thread thread_, ahead_thread_;
};

}  // namespace sonde
