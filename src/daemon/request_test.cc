#include "daemon/request.h"

#include <gtest/gtest.h>

#include <csignal>

namespace sonde {
namespace {

std::string text_of(const DaemonRequest& request) {
  auto bytes = request.encode();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `front`, and zeros up to the size of a request.
std::string padded(std::string front) {
  front.resize(DaemonRequest::kSize);
  return front;
}

using Kind = DaemonRequest::Kind;
using std::string_literals::operator""s;

// As perf 6.1 writes them on a little-endian machine.
TEST(DaemonRequest, HasPerfsBytes) {
  EXPECT_EQ(text_of({.kind = Kind::kList}), padded(""));
  EXPECT_EQ(text_of({.kind = Kind::kList, .verbose = true, .separator = ','}),
            padded("\0\0\0\0\1\0\0\0,"s));
  EXPECT_EQ(text_of({.kind = Kind::kSignal, .signal = SIGUSR2, .session = "clock"}),
            padded("\1\0\0\0\f\0\0\0clock"s));
  EXPECT_EQ(text_of({.kind = Kind::kStop}), padded("\2"));
  EXPECT_EQ(text_of({.kind = Kind::kPing}), padded("\3\0\0\0all"s));
}

TEST(DaemonRequest, RoundTrips) {
  for (Kind kind : {Kind::kList, Kind::kSignal, Kind::kStop, Kind::kPing}) {
    DaemonRequest request{.kind = kind};
    if (kind == Kind::kList) request.verbose = true, request.separator = ';';
    if (kind == Kind::kSignal) request.signal = SIGTERM;
    if (kind == Kind::kSignal || kind == Kind::kPing) request.session = std::string(63, 'n');
    DaemonRequest again = DaemonRequest::decode(request.encode()).value();
    EXPECT_EQ(again.kind, request.kind);
    EXPECT_EQ(again.verbose, request.verbose);
    EXPECT_EQ(again.separator, request.separator);
    EXPECT_EQ(again.signal, request.signal);
    EXPECT_EQ(again.session, request.session);
  }
}

TEST(DaemonRequest, RefusesWhatIsNone) {
  auto decoded = [](const std::string& text) { return DaemonRequest::decode(as_bytes(text)); };
  EXPECT_FALSE(decoded(""));
  EXPECT_FALSE(decoded(padded("\4")));
  EXPECT_FALSE(decoded(padded("\2") + "x"));
  EXPECT_FALSE(decoded("\3\0\0\0"s + std::string(68, 'x')));  // the name has no end
  EXPECT_TRUE(decoded(padded("\3")));
}

TEST(DaemonRequest, ConcernsOneSessionOrAll) {
  EXPECT_TRUE(DaemonRequest{}.concerns("a"));
  EXPECT_TRUE((DaemonRequest{.session = "a"}).concerns("a"));
  EXPECT_FALSE((DaemonRequest{.session = "a"}).concerns("b"));
}

}  // namespace
}  // namespace sonde
