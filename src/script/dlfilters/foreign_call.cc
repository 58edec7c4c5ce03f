#include "script/dlfilters/foreign_call.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

namespace sonde {
namespace {

struct CrashSignal {
  int number;
  const char* name;
};
constexpr std::array kCrashSignals = {
    CrashSignal{SIGSEGV, "SIGSEGV"}, CrashSignal{SIGBUS, "SIGBUS"}, CrashSignal{SIGFPE, "SIGFPE"},
    CrashSignal{SIGILL, "SIGILL"}, CrashSignal{SIGABRT, "SIGABRT"}};
constexpr size_t kStack_bytes = 64 * 1024;

// What a signal handler needs; it can reach nothing else.
struct Handling {
  std::array<struct sigaction, kCrashSignals.size()> before;
  std::array<char, 64> tool;
  stack_t stack_before;
  std::array<char, kStack_bytes> stack;  // the handler's own: that of the thread may be used up
};
Handling handling;
thread_local const char* volatile foreign_file;
thread_local const char* volatile foreign_function;  // null: our own code runs

void on_crash(int number) {
  const char* name = "a signal";
  for (size_t i = 0; i < kCrashSignals.size(); ++i) {
    if (kCrashSignals[i].number != number) continue;
    name = kCrashSignals[i].name;
    if (foreign_function == nullptr) {  // ours: die of it, as without these handlers
      ::sigaction(number, &handling.before[i], nullptr);
      ::raise(number);
      return;
    }
  }
  std::array<const char*, 8> parts = {handling.tool.data(),
                                      ": ",
                                      foreign_file,
                                      ": crashed (",
                                      name,
                                      ") in ",
                                      foreign_function,
                                      ": debug it with gdb, or run without it\n"};
  std::array<iovec, parts.size()> pieces{};
  for (size_t i = 0; i < parts.size(); ++i)
    pieces[i] = {const_cast<char*>(parts[i]), std::strlen(parts[i])};
  [[maybe_unused]] ssize_t written = ::writev(STDERR_FILENO, pieces.data(), pieces.size());
  ::_exit(1);
}

}  // namespace

CrashHandlers::CrashHandlers(const std::string& tool) {
  handling.tool.fill(0);
  tool.copy(handling.tool.data(), handling.tool.size() - 1);
  stack_t own{};
  own.ss_sp = handling.stack.data();
  own.ss_size = handling.stack.size();
  ::sigaltstack(&own, &handling.stack_before);
  struct sigaction action{};
  action.sa_handler = on_crash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_NODEFER);
  for (size_t i = 0; i < kCrashSignals.size(); ++i)
    ::sigaction(kCrashSignals[i].number, &action, &handling.before[i]);
}

CrashHandlers::~CrashHandlers() {
  for (size_t i = 0; i < kCrashSignals.size(); ++i)
    ::sigaction(kCrashSignals[i].number, &handling.before[i], nullptr);
  ::sigaltstack(&handling.stack_before, nullptr);
}

ForeignCall::ForeignCall(const std::string& file, const char* function) {
  foreign_file = file.c_str();
  foreign_function = function;
}

ForeignCall::~ForeignCall() {
  foreign_function = nullptr;
}

OwnCode::OwnCode() : function_(foreign_function) {
  foreign_function = nullptr;
}

OwnCode::~OwnCode() {
  foreign_function = function_;
}

}  // namespace sonde
