#include "base/process/own_command_line.h"

#include <unistd.h>

#include <climits>

#include "base/file.h"
#include "base/text.h"

namespace sonde {

std::vector<std::string> own_command_line() {
  std::vector<std::string> words;
  Result<std::string> text = read_file("/proc/self/cmdline");
  if (!text) return words;
  for (std::string_view word : split(*text, '\0')) words.emplace_back(word);
  if (!words.empty() && words.back().empty()) words.pop_back();
  char path[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length > 0 && !words.empty()) words[0].assign(path, static_cast<size_t>(length));
  return words;
}

}  // namespace sonde
