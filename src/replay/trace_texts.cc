#include "replay/trace_texts.h"

#include <sys/utsname.h>

#include "base/text.h"
#include "event/btf_constants.h"

namespace sonde {
namespace {

/// Lines `0xffffffff82345678 : "text"` of printk_formats, by address.
tsl::robin_map<uint64_t, std::string> parse_printk(std::string_view text) {
  tsl::robin_map<uint64_t, std::string> strings;
  for (std::string_view line : split(text, '\n')) {
    size_t colon = line.find(" : ");
    if (colon == std::string_view::npos) continue;
    auto address = parse_hex(trim(line.substr(0, colon)));
    std::string_view value = trim(line.substr(colon + 3));
    if (!address || value.size() < 2 || !value.starts_with('"') || !value.ends_with('"')) continue;
    strings.emplace(*address, std::string(value.substr(1, value.size() - 2)));
  }
  return strings;
}

/// Whether this machine runs the kernel of the recording: then its BTF tells what names in print
/// formats mean.
bool is_this_kernel(const Session& session) {
  const auto& recorded = session.recording().features().os_release;
  utsname here{};
  return recorded && uname(&here) == 0 && *recorded == here.release;
}

}  // namespace

TraceTexts::TraceTexts(const Session& session) {
  events_.resize(session.events().size());
  Bytes section = session.recording().features().tracing_data;
  if (section.empty()) return;
  data_ = TracingData::parse(section);
  PrintTarget target;
  target.order = session.recording().byte_order();
  target.word_size = data_->long_size();
  bool is_here = is_this_kernel(session);
  for (size_t i = 0; i < events_.size(); ++i) {
    const EventDesc& event = session.events()[EventId(i)];
    if (event.attr.type != abi::kTypeTracepoint) continue;
    const TracingData::Format* source = data_->by_id(static_cast<uint32_t>(event.attr.config));
    if (source == nullptr) continue;
    auto format = TracepointFormat::parse(source->text, source->system);
    if (!format) continue;
    events_[i].program = is_here ? compile_with_btf(*format, target, kKernelBtf)
                                 : PrintProgram::compile(*format, target);
    events_[i].format = std::move(*format);
  }

  const Session* shared = &session;
  DsoId kernel = session.machine().dsos().find("[kernel.kallsyms]");
  context_.symbol = [shared, kernel](uint64_t address) -> std::optional<PrintContext::Symbol> {
    if (!kernel.valid()) return std::nullopt;
    SymbolId symbol = shared->symbolizer().find(kernel, address);
    if (!symbol.valid()) return std::nullopt;
    return PrintContext::Symbol{shared->symbolizer().name(symbol),
                                address - shared->symbolizer().start_of(symbol)};
  };
  context_.printk = [strings = parse_printk(data_->printk_formats())](uint64_t address) {
    auto found = strings.find(address);
    return found == strings.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

void TraceTexts::print(EventId event, Bytes raw, std::string& out) const {
  const Compiled& compiled = events_[event.index()];
  if (compiled.program) compiled.program->print(raw, context_, out);
}

}  // namespace sonde
