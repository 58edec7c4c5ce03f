// Arbitrary bytes as function_graph text: each call is counted once, whether the text comes in
// pieces or as a whole.
#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "ftrace/call_profile.h"
#include "ftrace/call_times.h"
#include "ftrace/graph_calls.h"
#include "ftrace/trace_settings.h"
#include "fuzz/fuzz_target.h"

FUZZ_TARGET(graph_text)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view text = as_text(Bytes(reinterpret_cast<const std::byte*>(data), size));
  CallProfile profile;
  CallTimes times;
  GraphCalls whole([&](std::string_view name, uint64_t duration_ns) {
    profile.add(name, duration_ns);
    times.add(duration_ns, CallBuckets());
  });
  whole.consume(text);
  whole.finish();
  uint64_t in_pieces = 0;
  GraphCalls pieces([&](std::string_view, uint64_t) { ++in_pieces; });
  constexpr size_t kPiece = 5;
  for (size_t at = 0; at < text.size(); at += kPiece) pieces.consume(text.substr(at, kPiece));
  pieces.finish();
  uint64_t rows = 0;
  for (const CallProfile::Row& row : profile.sorted(CallSort::kTotal)) rows += row.count;
  // A piece longer than any kernel line is truncated.
  constexpr size_t kMax = 1 << 16;
  CHECK(rows == times.calls);
  CHECK(size > kMax || in_pieces == times.calls);
  StringSink out;
  write_call_profile(out, profile.sorted(CallSort::kAverage));
  write_call_times(out, times, {});
  for (const char* file : {"set_ftrace_filter", "set_graph_function", "buffer_size_kb"})
    (void)words_of_trace_file(file, text);
  return 0;
}
