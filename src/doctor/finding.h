// What a check of the machine or of a program found, and the command that mends it.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::doctor {

struct Finding {
  enum class State : uint8_t {
    kGood,
    kPart,     // works, with less than there could be
    kMissing,  // does not work
  };
  std::string subject;  // "hardware counters"
  State state = State::kGood;
  std::string what = {};  // one line
  std::string remedy =
      {};  // a command, or what to do; empty if nothing can be done, or needs to be
};

}  // namespace sonde::doctor
