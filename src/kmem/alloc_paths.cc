#include "kmem/alloc_paths.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace sonde {
namespace {

// mm/page_alloc.c, mm/mempolicy.c and include/linux/gfp.h, from Linux 3.0 to 6.18.
constexpr std::array<std::string_view, 13> kAllocators{
    "alloc_pages",        "alloc_page",         "get_free_pages",   "get_free_page",
    "get_zeroed_page",    "alloc_frozen_pages", "alloc_pages_bulk", "folio_alloc",
    "vma_alloc_folio",    "alloc_contig_pages", "alloc_folio",      "alloc_pages_vma",
    "alloc_pages_current"};

}  // namespace

bool is_page_allocator(std::string_view function) {
  // Compiler clones ("alloc_pages.part.0"), and the functions behind allocation profiling.
  function = function.substr(0, function.find('.'));
  while (function.starts_with('_')) function.remove_prefix(1);
  constexpr std::string_view kUnprofiled = "_noprof";
  if (function.ends_with(kUnprofiled)) function.remove_suffix(kUnprofiled.size());
  constexpr std::array<std::string_view, 5> kVariants{"", "_mpol", "_nodemask", "_node", "_nolock"};
  return std::ranges::any_of(kAllocators, [&](std::string_view name) {
    return function.starts_with(name) &&
           std::ranges::find(kVariants, function.substr(name.size())) != kVariants.end();
  });
}

AllocPathId AllocPaths::intern(std::span<const uint64_t> chain, uint64_t ip) {
  CHECK(chain.size() <= kDepth);
  std::array<uint64_t, kDepth + 1> content{ip};
  std::ranges::copy(chain, content.begin() + 1);
  auto [found, is_new] =
      known_.try_emplace(digest_of(std::span<const uint64_t>(content).first(chain.size() + 1)),
                         static_cast<AllocPathId>(ips_.size()));
  if (is_new) {
    ips_.push_back(ip);
    starts_.push_back(addresses_.size());
    addresses_.insert(addresses_.end(), chain.begin(), chain.end());
  }
  return found->second;
}

std::span<const uint64_t> AllocPaths::chain(size_t path) const {
  size_t end = path + 1 < starts_.size() ? starts_[path + 1] : addresses_.size();
  return std::span(addresses_).subspan(starts_[path], end - starts_[path]);
}

std::vector<uint64_t> AllocPaths::addresses() const {
  std::vector<uint64_t> all = addresses_;
  all.insert(all.end(), ips_.begin(), ips_.end());
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

std::vector<uint64_t> AllocPaths::callers(const ScanMachine& machine) const {
  tsl::robin_map<uint64_t, bool> known;
  auto is_allocator = [&](uint64_t address) {
    auto [found, is_new] = known.try_emplace(address, false);
    if (is_new) {
      auto symbol = machine.kernel_symbol(address);
      found.value() = symbol && is_page_allocator(symbol->name);
    }
    return found->second;
  };
  std::vector<uint64_t> callers;
  for (size_t path = 0; path < ips_.size(); ++path) {
    auto addresses = chain(path);
    auto caller = std::ranges::find_if_not(addresses, is_allocator);
    callers.push_back(caller == addresses.end() ? ips_[path] : *caller);
  }
  return callers;
}

}  // namespace sonde
