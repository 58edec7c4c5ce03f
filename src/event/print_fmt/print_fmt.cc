#include "event/print_fmt/print_fmt.h"

#include <utility>

#include "event/print_fmt/field_format.h"
#include "event/print_fmt/print_fmt_parser.h"
#include "event/print_fmt/print_fmt_run.h"

namespace sonde {

PrintProgram PrintProgram::compile(const TracepointFormat& format, const PrintTarget& target) {
  PrintProgram program;
  PrintTarget known = target;
  known.word_size = target.word_size == 4 ? 4 : 8;  // it comes from recordings
  program.order_ = known.order;
  program.word_size_ = known.word_size;
  auto parsed = print_fmt::parse_print_fmt(format, known);
  if (!parsed) {
    program.problem_ = std::move(parsed.error().message);
    program.listed_ = format;
    return program;
  }
  program.code_ = std::move(parsed->code);
  program.unresolved_ = std::move(parsed->unresolved);
  return program;
}

void PrintProgram::print(Bytes raw, const PrintContext& context, std::string& out) const {
  if (listed_) {
    out += "[FAILED TO PARSE]";
    return append_all_fields(*listed_, raw, order_, out);
  }
  auto main = static_cast<uint32_t>(code_.formats.size() - 1);
  print_fmt::Run(code_, raw, order_, word_size_, context, out).format(main);
}

}  // namespace sonde
