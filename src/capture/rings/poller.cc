#include "capture/rings/poller.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace sonde {

Result<Poller> Poller::create() {
  Poller poller;
  poller.epoll_ = Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller.epoll_.valid())
    return fail(ErrorCode::kIo, "failed to create an epoll descriptor: {}", std::strerror(errno));
  return poller;
}

void Poller::add(int fd, Handler handler) {
  entries_.push_back(std::make_unique<Entry>(fd, std::move(handler)));
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = entries_.back().get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Poller::remove(int fd) {
  auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->fd == fd; });
  if (found == entries_.end()) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  (*found)->fd = -1;
  retired_.push_back(std::move(*found));
  entries_.erase(found);
}

bool Poller::wait(int timeout_ms) {
  std::array<epoll_event, 64> events;
  int count =
      ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    auto* entry = static_cast<Entry*>(events[static_cast<size_t>(i)].data.ptr);
    uint32_t what = events[static_cast<size_t>(i)].events;
    if (entry->fd < 0) continue;  // removed by a handler that ran earlier
    entry->handler({(what & EPOLLIN) != 0, (what & (EPOLLHUP | EPOLLERR)) != 0});
  }
  retired_.clear();
  return count > 0;
}

}  // namespace sonde
