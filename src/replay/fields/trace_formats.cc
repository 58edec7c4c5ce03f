#include "replay/fields/trace_formats.h"

namespace sonde {

TraceFormats::TraceFormats(const EventTable& events, const Features& features)
    : formats_(events.size()) {
  Bytes section = features.tracing_data;
  if (section.empty()) return;
  data_ = TracingData::parse(section);
  for (size_t i = 0; i < formats_.size(); ++i) {
    const EventDesc& event = events[EventId(i)];
    if (event.attr.type != abi::kTypeTracepoint) continue;
    const TracingData::Format* source = data_->by_id(static_cast<uint32_t>(event.attr.config));
    if (source == nullptr) continue;
    auto format = TracepointFormat::parse(source->text, source->system);
    if (format) formats_[i] = std::move(*format);
  }
}

}  // namespace sonde
