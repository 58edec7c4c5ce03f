#include "probe/source/sorted_texts.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "base/bytes.h"
#include "base/parallel.h"

namespace sonde {
namespace {

struct Keyed {
  uint64_t key = 0;  // eight bytes of the text, the first one highest; zeros after its end
  std::string_view text;
};
using Run = std::span<Keyed>;

/// Texts that have the first `depth` bytes in common.
struct Pending {
  Run texts;
  size_t depth;
};

constexpr size_t kKeyBytes = sizeof(uint64_t);
/// So few are compared as a whole.
constexpr size_t kFew = 8;

uint64_t key_at(std::string_view text, size_t depth) {
  std::string_view part = text.substr(std::min(depth, text.size()));
  if (part.size() >= kKeyBytes) return load<uint64_t>(as_bytes(part).data(), ByteOrder::kBig);
  uint64_t key = 0;
  for (size_t i = 0; i < kKeyBytes; ++i)
    key = key << 8 | (i < part.size() ? static_cast<uint8_t>(part[i]) : 0u);
  return key;
}

/// Sorts by the next eight bytes, and passes on what they don't decide.
template <typename PassOn>
void sort_step(const Pending& step, const PassOn& pass_on) {
  if (step.texts.size() <= kFew) {
    std::ranges::sort(step.texts, {},
                      [&](const Keyed& one) { return one.text.substr(step.depth); });
    return;
  }
  for (Keyed& one : step.texts) one.key = key_at(one.text, step.depth);
  std::ranges::sort(step.texts, {}, &Keyed::key);
  for (auto first = step.texts.begin(); first != step.texts.end();) {
    auto last = std::find_if(first, step.texts.end(),
                             [&](const Keyed& one) { return one.key != first->key; });
    bool is_ended = (first->key & 0xff) == 0;
    if (last - first > 1 && !is_ended) pass_on(Pending{{first, last}, step.depth + kKeyBytes});
    first = last;
  }
}

void sort_all(const Pending& first) {
  std::vector<Pending> left{first};
  while (!left.empty()) {
    Pending next = left.back();
    left.pop_back();
    sort_step(next, [&](const Pending& more) { left.push_back(more); });
  }
}

}  // namespace

void sort_texts(std::vector<std::string_view>& texts) {
  std::vector<Keyed> keyed;
  keyed.reserve(texts.size());
  for (std::string_view text : texts) keyed.push_back({0, text});
  std::vector<Pending> runs;
  sort_step({keyed, 0}, [&](const Pending& run) { runs.push_back(run); });
  std::ranges::sort(runs, std::greater(), [](const Pending& run) { return run.texts.size(); });
  parallel_jobs(runs.size(), [&](size_t i) { sort_all(runs[i]); });
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = keyed[i].text;
}

}  // namespace sonde
