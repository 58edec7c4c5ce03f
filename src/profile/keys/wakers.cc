#include "profile/keys/wakers.h"

#include <algorithm>
#include <array>

namespace sonde {
namespace {

/// Substrings of the names of interrupt entry functions on x86 and arm64.
constexpr auto kInterruptEntries = std::to_array<std::string_view>({
    "asm_sysvec_",
    "asm_common_interrupt",
    "asm_exc_nmi",
    "el1_interrupt",
    "el1h_64_irq",
    "el0_interrupt",
    "el0t_64_irq",
    "gic_handle_irq",
});

}  // namespace

Wakers::Wakers(const Session& session) : session_(session) {
  std::vector<uint8_t> is_waker;
  for (const EventDesc& event : session.events().all())
    is_waker.push_back(is_waker_event(event.attr, event.name));
  if (std::ranges::find(is_waker, 1) == is_waker.end()) return;
  const SampleColumns& samples = session.samples();
  Sample content;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (is_waker[samples.event[i]] == 0 || !session.decode(i, content)) continue;
    if (auto note = decode_waker_note(content.raw, content.order))
      by_number_[note->number] = static_cast<uint32_t>(i);
  }
}

std::optional<size_t> Wakers::of(const Sample& wait) const {
  if (by_number_.empty()) return std::nullopt;
  auto note = decode_off_cpu_note(wait.raw, wait.order);
  if (!note || note->waker == 0) return std::nullopt;
  auto found = by_number_.find(note->waker);
  return found == by_number_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

std::span<const FrameId> Wakers::whole_chain(size_t waker) const {
  ChainId chain = session_.samples().chain_of(waker);
  return chain.valid() ? session_.chains()[chain] : std::span<const FrameId>();
}

size_t Wakers::interrupt_frames(std::span<const FrameId> chain) const {
  for (size_t i = 0; i < chain.size(); ++i) {
    const Frame& frame = session_.frame(chain[i]);
    if (frame.level != FrameLevel::kKernel) break;
    if (!frame.symbol.valid()) continue;
    std::string_view name = session_.symbolizer().label(frame.symbol);
    if (std::ranges::any_of(kInterruptEntries,
                            [&](std::string_view part) { return name.contains(part); }))
      return i + 1;
  }
  return 0;
}

std::string_view Wakers::name(size_t waker) const {
  if (interrupt_frames(whole_chain(waker)) > 0) return "interrupt";
  return session_.strings().view(session_.samples().comm[waker]);
}

std::span<const FrameId> Wakers::chain(size_t waker) const {
  std::span<const FrameId> chain = whole_chain(waker);
  size_t own = interrupt_frames(chain);
  return own > 0 ? chain.first(own) : chain;
}

}  // namespace sonde
