#include "daemon/config_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sonde {

Result<ConfigWatch> ConfigWatch::start(const std::vector<std::string>& files) {
  ConfigWatch watch{Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC))};
  if (!watch.fd_.valid())
    return fail(ErrorCode::kIo,
                "cannot watch the configuration: {}; raise fs.inotify.max_user_instances",
                std::strerror(errno));
  for (const std::string& file : files) {
    size_t slash = file.rfind('/');
    std::string directory = file.substr(0, slash == 0 ? 1 : slash);
    int id = ::inotify_add_watch(watch.fd(), directory.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO);
    if (id >= 0) watch.names_[id].insert(file.substr(slash + 1));
  }
  return watch;
}

bool ConfigWatch::changed() {
  bool found = false;
  alignas(inotify_event) char buffer[4096];
  ssize_t got;
  while ((got = ::read(fd(), buffer, sizeof buffer)) > 0) {
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      if ((event->mask & IN_Q_OVERFLOW) != 0) found = true;
      auto names = names_.find(event->wd);
      if (event->len > 0 && names != names_.end() && names->second.contains(event->name))
        found = true;
    }
  }
  return found;
}

}  // namespace sonde
