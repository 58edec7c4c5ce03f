// Closes descriptors whose close blocks in the kernel: some 40 to 90 ms for the last one of a
// tracepoint, until no CPU can be inside it any more. A user who has the answer should not wait for
// that.
//
//   {
//     BackgroundClose background(fds);  // a child holds them, too
//     … close them …                    // not the last references: returns at once
//   }                                   // the child closes them and exits; nobody waits for it
#pragma once

#include <span>

#include "base/file.h"

namespace sonde {

class BackgroundClose {
 public:
  /// Without descriptors, or if there can be no child, closing simply takes its time.
  explicit BackgroundClose(std::span<const int> fds);
  BackgroundClose(const BackgroundClose&) = delete;
  BackgroundClose& operator=(const BackgroundClose&) = delete;
  ~BackgroundClose() = default;

 private:
  Fd held_open_;  // a pipe's end: the child waits until it is closed
};

}  // namespace sonde
