#include "replay/fields/trace_texts.h"

#include <sys/utsname.h>

#include "base/hashing/number_hash.h"
#include "base/text.h"
#include "event/print_fmt/btf_constants.h"

namespace sonde {
namespace {

using PrintkTexts = tsl::robin_map<uint64_t, std::string, NumberHash>;

/// Parses printk_formats lines, `0xffffffff82345678 : "text"`, by address.
PrintkTexts parse_printk(std::string_view text) {
  PrintkTexts strings;
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

}  // namespace

PrintProgram compile_print_fmt(const TracepointFormat& format, const PrintTarget& target,
                               const Features& features) {
  const auto& recorded = features.os_release;
  utsname here{};
  bool is_this_kernel = recorded && uname(&here) == 0 && *recorded == here.release;
  return is_this_kernel ? compile_with_btf(format, target, kKernelBtf)
                        : PrintProgram::compile(format, target);
}

TraceTexts::TraceTexts(const EventTable& events, const Features& features, ByteOrder order)
    : formats_(events, features), programs_(events.size()) {
  if (formats_.data() == nullptr) return;
  PrintTarget target;
  target.order = order;
  target.word_size = formats_.data()->long_size();
  for (size_t i = 0; i < programs_.size(); ++i) {
    const TracepointFormat* format = formats_.of(EventId(i));
    if (format == nullptr) continue;
    programs_[i] = compile_print_fmt(*format, target, features);
  }
  context_.printk = [strings = parse_printk(formats_.data()->printk_formats())](uint64_t address) {
    auto found = strings.find(address);
    return found == strings.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
}

TraceTexts::TraceTexts(const Session& session)
    : TraceTexts(session.events(), session.recording().features(),
                 session.recording().byte_order()) {
  const Session* shared = &session;
  DsoId kernel = session.machine().dsos().find("[kernel.kallsyms]");
  context_.symbol = [shared, kernel](uint64_t address) -> std::optional<PrintContext::Symbol> {
    if (!kernel.valid()) return std::nullopt;
    SymbolId symbol = shared->symbolizer().find(kernel, address);
    if (!symbol.valid()) return std::nullopt;
    return PrintContext::Symbol{shared->symbolizer().name(symbol),
                                address - shared->symbolizer().start_of(symbol)};
  };
}

void TraceTexts::print(EventId event, Bytes raw, std::string& out) const {
  const std::optional<PrintProgram>& program = programs_[event.index()];
  if (program) program->print(raw, context_, out);
}

}  // namespace sonde
