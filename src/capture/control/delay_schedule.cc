#include "capture/control/delay_schedule.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace sonde {

Result<DelayOptions> parse_delay(std::string_view text) {
  DelayOptions options;
  if (text == "-1") {
    options.start_disabled = true;
    return options;
  }
  if (std::optional<uint64_t> ms = parse_number(text)) {
    options.delay_ms = *ms;
    return options;
  }
  for (std::string_view word : split(text, ',')) {
    size_t dash = word.find('-');
    std::optional<uint64_t> begin, end;
    if (dash != std::string_view::npos) {
      begin = parse_number(word.substr(0, dash));
      end = parse_number(word.substr(dash + 1));
    }
    if (!begin || !end)
      return fail(ErrorCode::kUsage, "Invalid delay: '{}' is neither milliseconds nor a range a-b",
                  word);
    if (*begin >= *end || (!options.ranges.empty() && *begin <= options.ranges.back().end_ms))
      return fail(ErrorCode::kUsage, "Invalid delay: time ranges must be in ascending order: '{}'",
                  text);
    options.ranges.push_back({*begin, *end});
  }
  return options;
}

Result<DelaySchedule> DelaySchedule::create(const DelayOptions& options) {
  DelaySchedule schedule;
  if (options.delay_ms > 0) schedule.steps_.push_back({options.delay_ms, true});
  for (const DelayOptions::Range& range : options.ranges) {
    schedule.steps_.push_back({range.begin_ms, true});
    schedule.steps_.push_back({range.end_ms, false});
  }
  schedule.timer_ = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!schedule.timer_.valid())
    return fail(ErrorCode::kIo, "failed to create a timer: {}", std::strerror(errno));
  return schedule;
}

void DelaySchedule::start() {
  arm(0);
}

void DelaySchedule::arm(uint64_t from_ms) {
  itimerspec when{};
  if (next_ < steps_.size()) {
    uint64_t wait_ms = steps_[next_].at_ms - from_ms;
    when.it_value.tv_sec = static_cast<time_t>(wait_ms / 1000);
    when.it_value.tv_nsec = static_cast<long>(wait_ms % 1000 * 1'000'000);
    if (wait_ms == 0) when.it_value.tv_nsec = 1;  // 0 would disarm
  }
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

std::optional<DelaySchedule::Step> DelaySchedule::take() {
  uint64_t expirations = 0;
  if (::read(timer_.get(), &expirations, sizeof expirations) != sizeof expirations ||
      next_ >= steps_.size())
    return std::nullopt;
  Step step = steps_[next_++];
  arm(step.at_ms);
  return step;
}

}  // namespace sonde
