#include "replay/fields/trace_formats.h"

#include <unordered_map>

namespace sonde {

TraceFormats::TraceFormats(const EventTable& events, const Features& features)
    : of_event_(events.size(), kNone) {
  Bytes section = features.tracing_data;
  if (section.empty()) return;
  data_ = TracingData::parse(section);
  std::unordered_map<uint32_t, const TracingData::Format*> sources;
  for (const TracingData::Format& source : data_->formats())
    sources.try_emplace(source.id, &source);
  std::unordered_map<uint32_t, uint32_t> parsed;  // by id: the number in formats_
  for (size_t i = 0; i < of_event_.size(); ++i) {
    const EventDesc& event = events[EventId(i)];
    if (event.attr.type != abi::kTypeTracepoint) continue;
    auto source = sources.find(static_cast<uint32_t>(event.attr.config));
    if (source == sources.end()) continue;
    auto [known, is_new] = parsed.try_emplace(source->first, kNone);
    if (is_new)
      if (auto format = TracepointFormat::parse(source->second->text, source->second->system)) {
        known->second = static_cast<uint32_t>(formats_.size());
        formats_.push_back(std::move(*format));
      }
    of_event_[i] = known->second;
  }
}

}  // namespace sonde
