// FunctionProbe: a BPF program at a function of an object, in every process that uses it, to
// measure what that costs. It is gone when the object is destroyed, or the process ends.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"

namespace sonde {

class FunctionProbe {
 public:
  enum class Program : uint8_t { kEmpty, kTracePrintk };

  /// At the entry of `function` (a symbol of `object`, a path), or at its returns. Errors say what
  /// the kernel refused.
  static Result<FunctionProbe> attach(const std::string& object, const char* function,
                                      bool at_return, Program program);
  FunctionProbe(FunctionProbe&&) noexcept;
  FunctionProbe& operator=(FunctionProbe&&) noexcept;
  ~FunctionProbe();

 private:
  struct State;
  explicit FunctionProbe(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sonde
