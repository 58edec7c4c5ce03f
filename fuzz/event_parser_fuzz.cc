// Arbitrary text as the argument of -e, on the fake machine of the unit tests: the grammar, the
// terms, the modifiers, globs and the messages. What parses must print.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "event/parser/event_parser.h"
#include "event/parser/event_test_machine.h"
#include "event/pmu/attr_text.h"
#include "event/pmu/event_name.h"
#include "event/pmu/pmu.h"
#include "fuzz/fuzz_target.h"

using namespace sonde;

namespace {

/// Built once: what is read from it stays in the catalogs.
struct ParserMachine {
  ParserMachine() {
    files.add_cpu();
    files.add_uncore();
    files.add_software();
    files.add_tracepoints();
  }
  TestMachine files;
  PmuCatalog pmus{files.pmu_directory()};
  Tracefs tracefs = Tracefs::at(files.tracing_directory());
};

/// Makes one event of whatever is requested.
class Maker final : public EventFactory {
 public:
  Result<std::vector<OwnedEvent>> make_usdt(std::string_view provider, std::string_view name,
                                            std::string_view object) override {
    if (object.ends_with('x')) return fail(ErrorCode::kNotFound, "{} is not there", object);
    return std::vector<OwnedEvent>{
        {{"sched", "sched_switch"}, fmt::format("sdt_{}:{}", provider, name)}};
  }
  Result<std::vector<OwnedEvent>> make_programs(std::string_view path,
                                                const std::vector<TermSyntax>& settings) override {
    if (!settings.empty() && !settings[0].value) return fail(ErrorCode::kBadEvent, "no value");
    return std::vector<OwnedEvent>{{{"sched", "sched_switch"}, std::string(path), 1}};
  }
};

}  // namespace

FUZZ_TARGET(event_parser)(const uint8_t* data, size_t size) {
  static ParserMachine machine;
  static Maker maker;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Result<std::vector<ParsedEvent>> events =
      parse_events(text, {.pmus = machine.pmus, .tracefs = machine.tracefs, .maker = &maker});
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
  // The other external texts of this layer.
  if (std::optional<PmuFormat> format = PmuFormat::parse("x", text))
    CHECK(format->spread(format->max_value()) == format->mask() || format->bits.size() > 1);
  parse_cpu_list(text);
  return 0;
}
