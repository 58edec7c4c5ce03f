// InterpretedFunctions: what the BPF stack walker says about code objects of interpreters, and how
// their frames stand in a recording.
//
// Functions get addresses that no process can map, in a range per source file:
//
//   kInterpretedBase + file · kInterpretedFileBytes + the function's place + 1 + line − first line
//
// A MMAP2 record maps the file there, in each process in which a function of it was sampled, from
// the time of that sample on. What is at the addresses, a section of the file says
// (Features::interpreted_files).
//
//   InterpretedFunctions functions(walker, attr);
//   functions.place(chain, sample, records);      words of the walker become addresses
//   features.interpreted_files = functions.files();
//
// Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "bpf/unwinding/stack_walker.h"
#include "capture/unwinding/interpreters/code_lines.h"
#include "perfdata/header/features.h"
#include "perfdata/records/sample.h"

namespace sonde {

class InterpretedFunctions {
 public:
  /// `walker` must outlive this object; records of our own get an id block as `attr` demands.
  InterpretedFunctions(StackWalker& walker, abi::EventAttr attr);

  /// Whether an address of a chain is one of the walker's words for an interpreted frame.
  static bool is_frame(uint64_t address) { return (address & INTERPRETED_FRAME) != 0; }
  /// Replaces such words in the chain of a sample, and appends the mappings that it needs.
  void place(std::span<uint64_t> chain, const Sample& sample, std::vector<std::byte>& records);
  /// Makes room for more descriptions, if chains are placed much later than they are walked.
  void look();
  /// A new file begins: what was mapped is mapped again.
  void restart();

  [[nodiscard]] std::vector<InterpretedFile> files() const;
  /// What has been added to them since the last call.
  std::vector<InterpretedFile> new_files();
  /// Appends the mappings of all files, in every process in which they were sampled.
  void map_all(ByteBuilder& out) const;
  struct Figures {
    uint64_t frames = 0;
    uint64_t without_name = 0;  // of those
    uint64_t cut_tables = 0;    // functions whose later lines are not known
  };
  [[nodiscard]] Figures figures(interpreter of) const;

 private:
  struct Function {
    uint32_t file = 0;  // index in files_
    uint64_t place = 0;
    uint32_t first_line = 0;
    CodeLines lines;
    bool has_lines = true;
  };
  /// Of one image of a process, the time since which each file is mapped.
  using MappedFiles = std::unordered_map<uint32_t, uint64_t>;
  struct Code {
    uint32_t function = 0;
    MappedFiles* mapped = nullptr;
  };

  void take_descriptions();
  void take(const code_description& code, Bytes lines);
  uint32_t add_function(interpreter of, std::string name, std::string path, uint32_t first_line,
                        Bytes lines, CodeLines::Form form);
  uint32_t unread_function(interpreter of);
  uint32_t file_of(const std::string& path, uint64_t bytes);
  Code code_of(interpreter of, uint64_t number, uint32_t pid);
  uint64_t address_of(const Function& function, uint32_t unit) const;
  void map(uint32_t file, const SampleId& id, ByteBuilder& out) const;

  StackWalker& walker_;
  abi::EventAttr attr_;
  mutable std::mutex mutex_;
  std::vector<InterpretedFile> files_;
  std::vector<uint64_t> used_bytes_;     // of each file's addresses
  std::vector<size_t> functions_given_;  // of each file, by new_files()
  size_t all_given_ = 0;                 // of all functions
  uint64_t event_id_ = 0;                // of any sample
  std::unordered_map<std::string, uint32_t> file_numbers_;
  std::vector<Function> functions_;
  std::unordered_map<std::string, uint32_t> function_numbers_;
  std::unordered_map<uint64_t, Code> codes_;
  std::map<std::pair<uint32_t, uint64_t>, MappedFiles> processes_;  // by pid and memory
  std::array<Figures, INTERPRETERS> figures_;
};

}  // namespace sonde
