// Writes jit-PID.dump, the file in which JIT compilers describe their code to profilers. The format
// is that of the kernel's tools/perf/Documentation/jitdump-specification.txt.
//
// After the lines of a piece of code this writer adds which functions were inlined where, in the
// same record: other readers rely on the number of lines and do not see it, Sonde does
// (src/symbol/jit_dump.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace sonde_jvmti {

/// A function at a location, and the line in it.
struct Frame {
  std::string function;
  std::string file;
  uint32_t line = 0;
};
/// From `address` on the code belongs to these functions: innermost first, the compiled one last.
struct CodeLine {
  uint64_t address = 0;
  std::vector<Frame> frames;
};

struct CodePiece {
  std::string name;
  uint64_t address = 0;
  std::string_view bytes;
  std::vector<CodeLine> lines;
  std::string eh_frame;  // with pointers as if it followed the code at the next multiple of 8
};

/// Thread-safe; records are written whole.
class DumpWriter {
 public:
  ~DumpWriter();
  /// Creates DIRECTORY/jit-PID.dump and maps it executable, which is how recorders find it. Returns
  /// false, with errno, on failure.
  bool open(const std::string& directory);
  void write(const CodePiece& piece);
  void close();

 private:
  void put_lines(const CodePiece& piece);
  void put_unwinding(const CodePiece& piece);
  void begin(uint32_t id);
  void end();
  template <typename T>
  void put(T value) {
    buffer_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    buffer_.append(text);
    buffer_.push_back('\0');
  }

  std::mutex mutex_;
  int fd_ = -1;
  void* marker_ = nullptr;
  uint64_t index_ = 0;
  std::string buffer_;
  size_t record_ = 0;
};

}  // namespace sonde_jvmti
