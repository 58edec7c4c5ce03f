#include "script/frame_texts.h"

#include <algorithm>

#include "base/parallel.h"

namespace sonde {

std::string_view dso_text(const Session& session, DsoId dso) {
  return dso.valid() ? std::string_view(session.machine().dsos()[dso].path)
                     : std::string_view("[unknown]");
}

void append_place(const Session& session, const Frame& frame, const FrameStyle& style,
                  std::string& out) {
  auto to = std::back_inserter(out);
  if (style.fields.has(Field::kSym)) {
    out += ' ';
    if (!frame.symbol.valid()) {
      out += "[unknown]";
    } else {
      out += session.symbolizer().name(frame.symbol);
      if (style.fields.has(Field::kSymOffset))
        fmt::format_to(to, "+{:#x}", frame.address - frame.symbol_start);
    }
  }
  if (style.fields.has(Field::kDso)) {
    out += " (";
    out += dso_text(session, frame.dso);
    if (style.fields.has(Field::kDsoOffset) && frame.dso.valid())
      fmt::format_to(to, "+{:#x}", frame.address);
    out += ')';
  }
  if (style.fields.has(Field::kSrcline) && frame.dso.valid())
    fmt::format_to(to, "\n  {}", session.symbolizer().srcline(frame.dso, frame.address));
}

FrameTexts::FrameTexts(const Session& session, const FrameStyle& style) {
  constexpr size_t kBatch = 4096;
  size_t count = session.frames().size();
  spans_.resize(count);
  chunks_.resize((count + kBatch - 1) / kBatch);
  parallel_for(chunks_.size(), [&](size_t chunk) {
    std::string& text = chunks_[chunk];
    for (size_t i = chunk * kBatch; i < std::min(count, (chunk + 1) * kBatch); ++i) {
      const Frame& frame = session.frames()[i];
      size_t begin = text.size();
      text += '\t';
      if (style.fields.has(Field::kIp))
        fmt::format_to(std::back_inserter(text), "{:16x}", frame.address);
      append_place(session, frame, style, text);
      text += '\n';
      spans_[i] = {static_cast<uint32_t>(chunk), static_cast<uint32_t>(begin),
                   static_cast<uint32_t>(text.size() - begin)};
    }
  });
}

}  // namespace sonde
