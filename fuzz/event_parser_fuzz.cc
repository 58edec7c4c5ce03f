// Any text as the argument of -e, on a machine with the PMUs of fake directories that don't exist
// and no tracefs: the grammar, the terms, the modifiers and the messages. What parses must print.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "event/attr_text.h"
#include "event/event_name.h"
#include "event/event_parser.h"
#include "event/pmu.h"

using namespace sonde;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  PmuCatalog pmus("/nonexistent");
  Tracefs tracefs = Tracefs::at("/nonexistent");
  Result<std::vector<ParsedEvent>> events =
      parse_events(text, {.pmus = pmus, .tracefs = tracefs, .columns = 80});
  if (!events) {
    CHECK(events.error().code == ErrorCode::kBadEvent);
    CHECK(events.error().message.find("\\___ ") != std::string::npos);
  } else {
    CHECK(!events->empty());
    for (size_t i = 0; i < events->size(); ++i) {
      const ParsedEvent& event = (*events)[i];
      CHECK(event.leader <= i && (*events)[event.leader].leader == event.leader);
      CHECK(!event_name(event.attr).empty() && !attr_line(event.attr).empty());
    }
  }
  // The other texts of this layer that come from outside.
  if (std::optional<PmuFormat> format = PmuFormat::parse("x", text))
    CHECK(format->spread(format->max_value()) == format->mask() || format->bits.size() > 1);
  parse_cpu_list(text);
  return 0;
}
