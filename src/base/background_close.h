// Closing descriptors that the kernel makes wait: some 40 to 90 ms for the last one of a
// tracepoint, until no CPU can be inside it any more. Nobody who has his answer should wait for
// that.
//
//   {
//     BackgroundClose background(fds);  // a child holds them, too
//     … close them …                    // not the last ones: returns at once
//   }                                   // the child closes them and ends; nobody waits for it
#pragma once

#include <span>

#include "base/file.h"

namespace sonde {

class BackgroundClose {
 public:
  /// Without descriptors, or where there can be no child, closing simply takes its time.
  explicit BackgroundClose(std::span<const int> fds);
  BackgroundClose(const BackgroundClose&) = delete;
  BackgroundClose& operator=(const BackgroundClose&) = delete;
  ~BackgroundClose() = default;

 private:
  Fd held_open_;  // a pipe's end: the child waits until it is gone
};

}  // namespace sonde
