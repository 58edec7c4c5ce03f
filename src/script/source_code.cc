#include "script/source_code.h"

#include "base/printing/printable.h"

namespace sonde {

void SourceCode::print(uint32_t tid, const Frame& frame, std::string& out) {
  if (!frame.dso.valid()) return;
  auto place = session_.symbolizer().source_place(frame.dso, frame.address);
  if (!place) return;
  if (auto last = last_.find(tid); last != last_.end() && last->second == *place) return;
  std::span<const std::string_view> lines = sources_.of(frame.dso, *place);
  if (place->line == 0 || place->line > lines.size()) return;
  size_t begin = out.size();
  fmt::format_to(std::back_inserter(out), "|{:<8} {}", place->line, lines[place->line - 1]);
  if (is_shown_) make_printable(out, begin);
  out += '\n';
  last_[tid] = std::move(*place);
}

}  // namespace sonde
