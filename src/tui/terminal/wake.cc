#include "tui/terminal/wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace sonde::tui {

Wake::Wake() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Wake::ring() const {
  eventfd_t one = 1;
  (void)!::write(fd_.get(), &one, sizeof one);
}

void Wake::clear() const {
  eventfd_t count = 0;
  (void)!::read(fd_.get(), &count, sizeof count);
}

}  // namespace sonde::tui
