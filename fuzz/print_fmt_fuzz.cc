// Tracepoint formats and their print programs. The input is a format file, a NUL, and the raw data
// of a sample.
#include <cstddef>
#include <cstdint>
#include <string>

#include "event/print_fmt/field_format.h"
#include "event/print_fmt/print_fmt.h"
#include "fuzz/fuzz_target.h"

FUZZ_TARGET(print_fmt)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  size_t end = input.find('\0');
  std::string_view raw = end == std::string_view::npos ? std::string_view{} : input.substr(end + 1);
  auto format = TracepointFormat::parse(input.substr(0, end), "fuzz");
  if (!format) return 0;
  for (ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    PrintTarget target;
    target.order = order;
    target.word_size = order == ByteOrder::kBig ? 4 : 8;
    std::string out;
    PrintProgram::compile(*format, target).print(as_bytes(raw), {}, out);
    append_all_fields(*format, as_bytes(raw), order, out);
  }
  return 0;
}
