// Poller: waits for any of several descriptors and calls the handlers of those that are ready.
//
//   Poller poller = TRY(Poller::create());
//   poller.add(signals.fd(), [&](Ready) { ... });
//   while (!done) poller.wait(-1);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace sonde {

class Poller {
 public:
  struct Ready {
    bool readable, hung_up;
  };
  using Handler = std::function<void(Ready)>;

  static Result<Poller> create();

  void add(int fd, Handler handler);
  void remove(int fd);
  /// Waits at most `timeout_ms` (-1: indefinitely) and calls the handlers. True if any was ready.
  bool wait(int timeout_ms);

 private:
  struct Entry {
    int fd;
    Handler handler;
  };
  Fd epoll_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<Entry>> retired_;  // removed while handlers run
};

}  // namespace sonde
