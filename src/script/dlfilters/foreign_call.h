// Calls of code that users load into this process. If such code crashes, one line names it and the
// command ends with status 1, instead of dying like from a bug of its own.
//
//   ForeignCall call(path, "filter_event");
//   int answer = filter.filter_event(…);
//
// Crashed code may have left anything behind, a lock of malloc for instance, so nothing else is
// done: what is still in our buffers is not written.
#pragma once

#include <string>

namespace sonde {

/// Catches the signals of crashes while it lives. They are the process's, so there is one at a
/// time.
class CrashHandlers {
 public:
  /// `tool` begins the line: "sonde script".
  explicit CrashHandlers(const std::string& tool);
  ~CrashHandlers();
  CrashHandlers(const CrashHandlers&) = delete;
  CrashHandlers& operator=(const CrashHandlers&) = delete;
};

/// From here to the end of the block this thread runs foreign code. Without CrashHandlers nothing
/// happens. Both texts must outlive it.
class ForeignCall {
 public:
  ForeignCall(const std::string& file, const char* function);
  ~ForeignCall();
  ForeignCall(const ForeignCall&) = delete;
  ForeignCall& operator=(const ForeignCall&) = delete;
};

/// Our own code again, called by foreign code, to the end of the block.
class OwnCode {
 public:
  OwnCode();
  ~OwnCode();
  OwnCode(const OwnCode&) = delete;
  OwnCode& operator=(const OwnCode&) = delete;

 private:
  const char* function_;
};

}  // namespace sonde
