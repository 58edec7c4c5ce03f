#include "c2c/row_texts.h"

#include <fmt/format.h>

#include "profile/keys/key_tools.h"

namespace sonde::c2c {

const Frame& RowTexts::code(const LineRow& row) const {
  return session_.frame(session_.samples().leaf[row.first_sample]);
}

uint32_t RowTexts::pid(const LineRow& row) const {
  return recorded_task(session_.samples().pid[row.first_sample]);
}

std::string RowTexts::thread(const LineRow& row) const {
  uint32_t tid = session_.samples().tid[row.first_sample];
  return fmt::format("{:>7}:{}", static_cast<int32_t>(recorded_task(tid)), details_.last_comm(tid));
}

std::string RowTexts::symbol(const LineRow& row, size_t limit) const {
  const Frame& frame = code(row);
  std::string text;
  if (verbose_)
    text = fmt::format("{:<#18x} {} ", details_.shown_address(frame),
                       frame.dso.valid() ? details_.origin(frame.dso) : '!');
  text += fmt::format("[{}] ", static_cast<char>(frame.level));
  if (!frame.symbol.valid()) {
    append_address(details_.shown_address(frame), text);
    return text;
  }
  text += session_.symbolizer().label(frame.symbol);
  if (limit != 0 && text.size() > limit) text.resize(limit);
  return text;
}

bool RowTexts::has_symbol(const LineRow& row) const {
  return code(row).symbol.valid();
}

std::string RowTexts::object(const LineRow& row) const {
  DsoId dso = code(row).dso;
  if (!dso.valid()) return "[unknown]";
  const Dso& object = session_.machine().dsos()[dso];
  return verbose_ ? object.path : object.short_name;
}

std::string RowTexts::source_line(const LineRow& row) const {
  return sonde::source_line(details_.input(), code(row));
}

}  // namespace sonde::c2c
