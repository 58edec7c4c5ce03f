#include "script/source_code.h"

#include "base/file.h"
#include "base/text.h"

namespace sonde {

const SourceCode::File& SourceCode::file(const std::string& path) {
  auto [entry, added] = files_.try_emplace(path);
  if (added) {
    entry.value() = std::make_unique<File>();
    File& made = *entry.value();
    if (auto text = read_file(path)) made.text = std::move(*text);
    for (std::string_view line : split(made.text, '\n')) made.lines.push_back(line);
  }
  return *entry->second;
}

void SourceCode::print(uint32_t tid, const Frame& frame, std::string& out) {
  if (!frame.dso.valid()) return;
  auto place = session_.symbolizer().source_place(frame.dso, frame.address);
  if (!place) return;
  if (auto last = last_.find(tid); last != last_.end() && last->second == *place) return;
  const File& source = file(place->file);
  if (place->line == 0 || place->line > source.lines.size()) return;
  fmt::format_to(std::back_inserter(out), "|{:<8} {}\n", place->line,
                 source.lines[place->line - 1]);
  last_[tid] = std::move(*place);
}

}  // namespace sonde
