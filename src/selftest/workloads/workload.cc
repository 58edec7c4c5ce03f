#include "selftest/workloads/workload.h"

#include <pthread.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>

namespace sonde::selftest {

volatile int is_over = 0;

namespace {

void on_signal(int /*number*/) {
  is_over = 1;
}

constexpr auto kWorkloads = std::to_array<Workload>({
#define WORKLOAD(name, summary) {#name, summary, run_##name},
#include "selftest/workloads/workloads.def"
#undef WORKLOAD
});

}  // namespace

std::span<const Workload> workloads() {
  return kWorkloads;
}

const Workload* find_workload(std::string_view name) {
  auto found = std::ranges::find(kWorkloads, name, &Workload::name);
  return found == kWorkloads.end() ? nullptr : &*found;
}

unsigned number_at(std::span<const std::string> arguments, size_t i, unsigned otherwise) {
  unsigned value = 0;
  if (i < arguments.size())
    std::from_chars(arguments[i].data(), arguments[i].data() + arguments[i].size(), value);
  return value == 0 ? otherwise : value;
}

void begin_workload(const char* name, std::span<const std::string> arguments) {
  ::pthread_setname_np(::pthread_self(), name);
  std::signal(SIGINT, on_signal);
  std::signal(SIGALRM, on_signal);
  double seconds = arguments.empty() ? 1 : std::strtod(arguments[0].c_str(), nullptr);
  constexpr double kMost = 1e6, kUsPerSecond = 1e6;
  seconds = seconds > 0 ? std::min(seconds, kMost) : 1;
  itimerval alarm{};
  alarm.it_value.tv_sec = static_cast<time_t>(seconds);
  alarm.it_value.tv_usec = static_cast<suseconds_t>(
      (seconds - static_cast<double>(alarm.it_value.tv_sec)) * kUsPerSecond);
  ::setitimer(ITIMER_REAL, &alarm, nullptr);
}

}  // namespace sonde::selftest
