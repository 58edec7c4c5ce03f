// The output of a BPF iterator: an array of structures of one size.
#pragma once

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/file.h"

namespace sonde {

/// Calls `take` with each `Item` that the link's iterator writes. False if the kernel refuses;
/// errno says why.
template <typename Item, typename Take>
bool read_iterator(int link_fd, Take&& take) {
  constexpr size_t kItems = 256;
  Fd iterator(bpf_iter_create(link_fd));
  if (!iterator.valid()) return false;
  std::vector<std::byte> buffer(kItems * sizeof(Item));
  size_t filled = 0;
  while (true) {
    ssize_t got = ::read(iterator.get(), buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return got == 0;
    filled += static_cast<size_t>(got);
    size_t taken = 0;
    for (; filled - taken >= sizeof(Item); taken += sizeof(Item)) {
      Item item;
      std::memcpy(&item, buffer.data() + taken, sizeof item);
      take(item);
    }
    filled -= taken;
    std::memmove(buffer.data(), buffer.data() + taken, filled);
  }
}

}  // namespace sonde
