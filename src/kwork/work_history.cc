#include "kwork/work_history.h"

#include <fmt/format.h>

#include "kwork/work_names.h"

namespace sonde {
namespace {

constexpr size_t kTimeWidth = 17, kCpuWidth = 6, kNameWidth = 30, kLengthWidth = 10;
constexpr size_t kWholeWidth = kLengthWidth - 4;  // before ".123"

/// Rounded as C rounds the quotient; halves depend on the floating-point representation.
void put_milliseconds(TextOut& out, uint64_t ns) {
  constexpr uint64_t kMicrosecond = 1000, kHalf = kMicrosecond / 2;
  uint64_t us = (ns + kHalf) / kMicrosecond;
  if (ns % kMicrosecond == kHalf) {
    out.right(fmt::format("{:.3f}", static_cast<double>(ns) / 1e6), kLengthWidth);
    return;
  }
  out.fixed(us / kMicrosecond, static_cast<uint32_t>(us % kMicrosecond), 3, kWholeWidth);
}

}  // namespace

void WorkHistory::write_head() {
  auto row = [this](std::string_view start, std::string_view end, std::string_view cpu,
                    std::string_view name, std::string_view runtime, std::string_view delay) {
    out_.put(' ');
    out_.left(start, kTimeWidth);
    out_.put("  ");
    out_.left(end, kTimeWidth);
    out_.put("  ");
    out_.left(cpu, kCpuWidth);
    out_.put("  ");
    out_.left(name, kNameWidth);
    out_.put("  ");
    out_.left(runtime, kLengthWidth);
    out_.put("  ");
    out_.left(delay, kLengthWidth);
    out_.put('\n');
  };
  row("Runtime start", "Runtime end", "Cpu", "Kwork name", "Runtime", "Delaytime");
  row("", "", "", "(TYPE)NAME:NUM", "(msec)", "(msec)");
  std::string_view dashes = "------------------------------";
  row(dashes.substr(0, kTimeWidth), dashes.substr(0, kTimeWidth), dashes.substr(0, kCpuWidth),
      dashes.substr(0, kNameWidth), dashes.substr(0, kLengthWidth), dashes.substr(0, kLengthWidth));
}

void WorkHistory::write(const Work& work, const WorkSpan& span, const std::string_view* stack) {
  out_.put(' ');
  out_.seconds(span.start_ns, kTimeWidth);
  out_.put("  ");
  out_.seconds(span.end_ns, kTimeWidth);
  out_.put("  [");
  out_.number(work.key.cpu, kCpuWidth - 2, '0');
  out_.put("]  ");
  out_.left(work_label(work), kNameWidth);
  out_.put("  ");
  put_milliseconds(out_, span.end_ns - span.start_ns);
  out_.put("  ");
  if (span.raised_ns != 0)
    put_milliseconds(out_, span.start_ns - span.raised_ns);
  else
    out_.blanks(kLengthWidth);
  out_.put(' ');
  if (stack != nullptr) {
    out_.put(' ');
    out_.put(*stack);
  }
  out_.put('\n');
}

}  // namespace sonde
