#include "analysis/sampling/chain_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "replay/frames/chain_builder.h"

namespace sonde {
namespace {

/// By event: whether the kernel wrote user chains, by frame pointers.
std::vector<char> events_by_frame_pointers(const EventTable& events) {
  std::vector<char> are;
  for (const EventDesc& event : events.all())
    are.push_back(event.attr.samples(abi::kSampleCallchain) &&
                  event.attr.exclude_callchain_user == 0 && has_only_recorded_chains(event.attr));
  return are;
}

/// What the outermost frame of a chain says.
class FrameEnds {
 public:
  explicit FrameEnds(const Session& session)
      : session_(session), known_(session.frames().size(), End::kNotLookedAt) {}

  enum class End : uint8_t { kNotLookedAt, kNotKnown, kEarly, kWhole, kCut };
  End of(FrameId id) {
    End& end = known_[id.index()];
    if (end == End::kNotLookedAt) end = look(session_.frame(id));
    return end;
  }

 private:
  [[nodiscard]] End look(const Frame& frame) const {
    if (frame.level != FrameLevel::kUser) return End::kNotKnown;
    if (frame.dso.valid() && session_.machine().dsos()[frame.dso].kind == DsoKind::kMarker)
      return End::kCut;
    // Code without names, or of another machine, may be anything.
    if (!frame.symbol.valid()) return End::kNotKnown;
    return begins_thread(session_.symbolizer().name(frame.symbol)) ? End::kWhole : End::kEarly;
  }

  const Session& session_;
  std::vector<End> known_;
};

}  // namespace

bool begins_thread(std::string_view function) {
  // What starts programs and threads in glibc, musl and Go. The functions of libc that call main()
  // and the like count, too: the first one itself mostly keeps no frame.
  constexpr std::array<std::string_view, 18> kFirst = {"_start",
                                                       "__libc_start_call_main",
                                                       "__libc_start_main",
                                                       "__libc_start_main_impl",
                                                       "_dl_start",
                                                       "_dl_start_user",
                                                       "start_thread",
                                                       "clone",
                                                       "clone3",
                                                       "__clone",
                                                       "__clone3",
                                                       "__clone_internal",
                                                       "__GI___clone3",
                                                       "_start_c",
                                                       "start",
                                                       "runtime.goexit",
                                                       "runtime.mstart",
                                                       "runtime.rt0_go"};
  function = function.substr(0, function.find('@'));
  constexpr std::string_view kAbi = ".abi0";
  if (function.ends_with(kAbi)) function.remove_suffix(kAbi.size());
  return std::ranges::find(kFirst, function) != kFirst.end();
}

FramePointerChains count_frame_pointer_chains(const Session& session) {
  FramePointerChains ends;
  const SampleColumns& samples = session.samples();
  if (samples.chain.empty()) return ends;
  std::vector<char> by_frame_pointers = events_by_frame_pointers(session.events());
  FrameEnds frames(session);
  for (size_t i = 0; i < samples.size(); ++i) {
    ChainId id = samples.chain_of(i);
    if (!id.valid() || by_frame_pointers[samples.event[i]] == 0) continue;
    std::span<const FrameId> chain = session.chains()[id];
    FrameEnds::End end = chain.empty() ? FrameEnds::End::kNotKnown : frames.of(chain.back());
    if (end == FrameEnds::End::kNotKnown) continue;
    ++ends.chains;
    if (end == FrameEnds::End::kWhole) ++ends.whole;
    if (end == FrameEnds::End::kCut) ++ends.cut;
  }
  return ends;
}

std::string chain_gap(const Session& session) {
  if (!session.checks_chains()) return {};
  FramePointerChains ends = count_frame_pointer_chains(session);
  constexpr double kNearlyAll_percent = 98;
  if (ends.chains == 0) return {};
  auto percent = [&](uint64_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(ends.chains);
  };
  if (percent(ends.whole) >= kNearlyAll_percent) return {};
  std::string cut =
      ends.cut == 0
          ? std::string()
          : fmt::format(" ({:.1f}% led astray, and are cut at [broken chain])", percent(ends.cut));
  return fmt::format(
      "Call chains: {:.1f}% end in code without frame pointers{}: record with --call-graph dwarf "
      "or bpf",
      percent(ends.chains - ends.whole), cut);
}

}  // namespace sonde
