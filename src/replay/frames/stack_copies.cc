#include "replay/frames/stack_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "replay/frames/process_code.h"
#include "unwind/leaf_caller.h"
#include "unwind/rejoin.h"

namespace sonde {
namespace {

ChainCut cut_of(ChainEnd end) {
  switch (end) {
    case ChainEnd::kOutermost:
    case ChainEnd::kNoRegisters:
      return ChainCut::kNone;
    case ChainEnd::kStackCopy:
      return ChainCut::kStackCopy;
    case ChainEnd::kLimit:
      return ChainCut::kLimit;
    case ChainEnd::kNotMapped:
    case ChainEnd::kNoRule:
    case ChainEnd::kBadFrame:
      break;
  }
  return ChainCut::kBroken;
}

}  // namespace

uint64_t UnwindCounts::chains() const {
  return std::accumulate(ended.begin(), ended.end(), rejoined);
}

void UnwindCounts::add(const UnwindCounts& other) {
  for (size_t i = 0; i < kChainEnds; ++i) ended[i] += other.ended[i];
  rejoined += other.rejoined;
  if (!broken_in.valid()) broken_in = other.broken_in;
}

uint64_t UnwindCounts::broken() const {
  return of(ChainEnd::kNotMapped) + of(ChainEnd::kNoRule) + of(ChainEnd::kBadFrame);
}

std::optional<uint64_t> StackCopies::caller_of_leaf(const Sample& sample, uint64_t leaf,
                                                    AddressResolver& resolver) const {
  constexpr uint32_t kLinkRegister = 30;  // in perf_event's arm64 register numbering
  if (arch_ != abi::Arch::kArm64 || cfi_ == nullptr || can_unwind(sample)) return std::nullopt;
  std::optional<uint64_t> link = sample.regs_user.get(kLinkRegister);
  if (!link) return std::nullopt;
  return caller_in_link_register(ProcessCode(resolver, *cfi_).find(leaf), *link);
}

std::span<const uint64_t> StackCopies::rest_of(const Sample& sample,
                                               const RecordedChain& recorded) const {
  return recorded.is_walked
             ? rest_of_walked(addresses_, recorded.addresses)
             : rest_of_chain(sample, arch_, unwinder_.last_stack_pointer(), recorded.addresses);
}

/// As many as fit and can be true; returns whether these were all that fit. What unwinding finds,
/// and what was walked, are the addresses of calls; the kernel found where these return to.
bool StackCopies::append_recorded(std::span<const uint64_t> addresses, bool are_calls,
                                  AddressResolver& resolver, size_t limit) {
  for (uint64_t address : addresses) {
    if (addresses_.size() >= limit) break;
    bool is_return = !are_calls && !addresses_.empty();
    if (is_return && !can_be_caller(address, resolver)) return false;
    addresses_.push_back(is_return ? address - 1 : address);
  }
  return true;
}

bool StackCopies::can_be_caller(uint64_t address, AddressResolver& resolver) const {
  if (call_sites_ == nullptr || !resolver.process_known()) return true;
  Place place = resolver.place(address, abi::kMiscUser);
  return call_sites_->may_return_to(place.dso, place.address);
}

ChainCut StackCopies::unwind(const Sample& sample, const RecordedChain& recorded,
                             AddressResolver& resolver, size_t limit) {
  addresses_.clear();
  ProcessCode code(resolver, *cfi_);
  ChainEnd end = unwinder_.unwind(sample, code, limit, addresses_);
  bool is_whole = end == ChainEnd::kOutermost || end == ChainEnd::kLimit;
  std::span<const uint64_t> rest;
  if (end == ChainEnd::kNoRegisters)
    rest = recorded.addresses;
  else if (!is_whole)
    rest = rest_of(sample, recorded);
  if (!rest.empty() && append_recorded(rest, recorded.is_walked, resolver, limit)) {
    ++counts_.rejoined;
    return ChainCut::kRejoined;
  }
  if (end == ChainEnd::kNoRegisters && !rest.empty()) end = ChainEnd::kStackCopy;  // an empty one
  ++counts_.ended[static_cast<size_t>(end)];
  if (counts_.broken() > 0 && !counts_.broken_in.valid() && !addresses_.empty())
    counts_.broken_in = resolver.place(addresses_.back(), abi::kMiscUser).dso;
  return cut_of(end);
}

void StackCopies::append(const Sample& sample, const RecordedChain& recorded,
                         AddressResolver& resolver, size_t limit, FrameTable& frames,
                         std::vector<FrameId>& chain) {
  unwind(sample, recorded, resolver, limit);
  for (uint64_t address : addresses_) {
    chain.push_back(resolver.resolve(address, abi::kMiscUser));
    frames.mark_unwound(chain.back());
  }
}

void StackCopies::count(ChainCut cut) {
  if (cut == ChainCut::kRejoined) {
    ++counts_.rejoined;
    return;
  }
  ChainEnd end = cut == ChainCut::kNone        ? ChainEnd::kOutermost
                 : cut == ChainCut::kStackCopy ? ChainEnd::kStackCopy
                 : cut == ChainCut::kLimit     ? ChainEnd::kLimit
                                               : ChainEnd::kNoRule;
  ++counts_.ended[static_cast<size_t>(end)];
}

void count_unfinished(const UnwindCounts& unwound, bool are_all, const DsoTable& dsos,
                      LossLedger& losses) {
  auto say = [&](LossKind kind, uint64_t count, std::string_view where) {
    if (count == 0) return;
    double share = 100 * static_cast<double>(count) / static_cast<double>(unwound.chains());
    std::string text = are_all ? fmt::format("{:.1f} % of those that were unwound", share) : "";
    if (are_all && !where.empty()) text += "; ";
    losses.add(kind, count, text.append(where));
  };
  std::string rejoined;
  if (unwound.rejoined > 0)
    rejoined = fmt::format("{} more go on by frame pointers", unwound.rejoined);
  say(LossKind::k_stack_copy_ends, unwound.of(ChainEnd::kStackCopy), rejoined);
  say(LossKind::k_broken_chain, unwound.broken(),
      unwound.broken_in.valid() ? fmt::format("the first in {}", dsos[unwound.broken_in].path)
                                : std::string());
}

}  // namespace sonde
