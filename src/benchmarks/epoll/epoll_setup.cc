#include "benchmarks/epoll/epoll_setup.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "benchmarks/support/worker_threads.h"

namespace sonde {

void EpollOptions::declare(FlagTable& flags, const char* random_help) {
  flags.number('f', "nfds", descriptors, "n", "descriptors of each thread (64)");
  flags.number('N', "nested", nested, "n",
               "further epoll instances below the one that is used, each in the one before (0)");
  flags.boolean('n', "noaffinity", no_affinity,
                "let threads run on any CPU, instead of binding each to one");
  flags.boolean('R', "randomize", randomize, random_help);
  flags.number('r', "runtime", seconds, "n", "seconds to run (8)");
  flags.number('t', "threads", threads, "n", "threads (default: as many as CPUs)");
  flags.boolean('v', "verbose", verbose, "say what is set up, and when it ends");
}

Result<> EpollOptions::prepare(Reporter& report) {
  if (descriptors == 0)
    return fail(ErrorCode::kUsage, "--nfds 0: each thread needs at least one descriptor");
  cpus_ = allowed_cpus();
  if (threads == 0) threads = static_cast<unsigned>(cpus_.size());
  if (verbose) report.line("Nesting level(s): {}", nested);
  return raise_limit(report);
}

Result<> EpollOptions::raise_limit(Reporter& report) const {
  constexpr uint64_t kOthers = 50;
  uint64_t needed = uint64_t{descriptors} * threads + uint64_t{threads} * (nested + 1) + kOthers;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return {};
  if (verbose) report.line("Setting RLIMIT_NOFILE rlimit from {} to: {}", limit.rlim_cur, needed);
  rlimit wanted{.rlim_cur = needed, .rlim_max = std::max<rlim_t>(limit.rlim_max, needed)};
  if (::setrlimit(RLIMIT_NOFILE, &wanted) == 0) return {};
  return fail(ErrorCode::kPermission,
              "{} threads with {} descriptors each: {}: the limit is {}: lower --nfds, or raise it "
              "(ulimit -Hn)",
              threads, descriptors, std::strerror(errno), limit.rlim_max);
}

std::optional<int> EpollOptions::cpu_of(unsigned index) const {
  if (no_affinity) return std::nullopt;
  return cpus_[index % cpus_.size()];
}

Result<EpollQueue> EpollQueue::create(unsigned nested) {
  EpollQueue queue;
  for (unsigned level = 0; level <= nested; ++level) {
    Fd fd(::epoll_create1(EPOLL_CLOEXEC));
    if (!fd.valid())
      return fail(ErrorCode::kFailed, "cannot create an epoll instance: {}", std::strerror(errno));
    queue.chain_.push_back(std::move(fd));
  }
  // From the bottom: the kernel refuses a chain that becomes too deep.
  for (size_t level = nested; level > 0; --level) {
    epoll_event event{.events = EPOLLHUP, .data = {.u64 = nested}};
    if (::epoll_ctl(queue.chain_[level - 1].get(), EPOLL_CTL_ADD, queue.chain_[level].get(),
                    &event) != 0)
      return fail(ErrorCode::kUnsupported, "--nested {}: {}: the kernel allows 4 levels", nested,
                  std::strerror(errno));
  }
  return queue;
}

Result<> EpollQueue::add(int descriptor, uint32_t events) {
  epoll_event event{.events = events, .data = {.fd = descriptor}};
  if (::epoll_ctl(fd(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return fail(ErrorCode::kFailed, "epoll does not accept descriptor {}: {}", descriptor,
              std::strerror(errno));
}

Result<std::vector<Fd>> make_eventfds(unsigned count) {
  std::vector<Fd> fds;
  for (unsigned i = 0; i < count; ++i) {
    fds.emplace_back(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!fds.back().valid())
      return fail(ErrorCode::kFailed, "cannot create an eventfd: {}: lower --nfds",
                  std::strerror(errno));
  }
  return fds;
}

std::string address_range(const std::vector<Fd>& descriptors) {
  const void *first = &descriptors.front(), *last = &descriptors.back();
  if (first == last) return fmt::format("{}", first);
  return fmt::format("{} ... {}", first, last);
}

}  // namespace sonde
