// Arbitrary text as a perfconfig file, and as a daemon's: it is rejected with its line, or what it
// sets survives being written as a file; sessions have names that are parts of paths.
#include "base/config.h"

#include "base/check.h"
#include "daemon/daemon_config.h"
#include "fuzz/allowance.h"
#include "fuzz/fuzz_target.h"

namespace {

using namespace sonde;

void check_same_settings(const Config& config, const Config& again) {
  CHECK(config.entries().size() == again.entries().size());
  for (const Config::Entry& entry : config.entries()) {
    auto value = again.get(entry.name);
    CHECK(value && *value == entry.value);
  }
}

void check_sessions(const Config& config) {
  auto daemon = daemon_config(config);
  if (!daemon) {
    CHECK(daemon.error().message.find('\n') == std::string::npos);
    return;
  }
  for (const DaemonSession& session : daemon->sessions) {
    CHECK(!session.words.empty() && !session.name.empty());
    for (char c : session.name) CHECK(static_cast<unsigned char>(c) >= ' ' && c != '/');
  }
}

}  // namespace

FUZZ_TARGET(config)(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  spend(size, {.bytes_per_byte = 256}, [&] {
    Config config;
    Result<> read = config.parse(text, "fuzz");
    if (!read) {
      CHECK(read.error().message.starts_with("fuzz:"));
      CHECK(read.error().message.find('\n') == std::string::npos);
      return;
    }
    Config again;
    CHECK(again.parse(config.to_text(), "again"));
    check_same_settings(config, again);
    check_sessions(config);
    for (const Config::Entry& entry : config.entries()) (void)config.get_bool(entry.name, false);
  });
  (void)session_words(text);
  return 0;
}
