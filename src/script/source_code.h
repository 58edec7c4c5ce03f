// `-F srccode`: the source line of an address, if the file is available.
//
//   |10           s = odd(s) + i;
//
// A line is printed only once while a thread stays on it, so lines must be made in order: a printer
// with this field is not used from several threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "replay/session.h"

namespace sonde {

class SourceCode {
 public:
  explicit SourceCode(const Session& session) : session_(session) {}

  /// Appends the line and a newline; nothing if it is not known or was the thread's last line.
  void print(uint32_t tid, const Frame& frame, std::string& out);

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
  };
  const File& file(const std::string& path);

  const Session& session_;
  tsl::robin_map<std::string, std::unique_ptr<File>> files_;
  tsl::robin_map<uint32_t, SourcePlace> last_;  // by thread
};

}  // namespace sonde
