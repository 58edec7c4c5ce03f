#include <algorithm>
#include <charconv>

#include "kmem/kmem_tables.h"

namespace sonde {
namespace {

std::string place_of(const PageRow& row, const KmemTableStyle& style) {
  if (style.symbols != nullptr)
    if (auto symbol = style.symbols->kernel_symbol(row.call_site)) return std::string(symbol->name);
  return fmt::format("{:x}", row.call_site);
}

std::string_view type_of(const PageRow& row, const MigrateTypes& types) {
  auto type = static_cast<size_t>(static_cast<uint32_t>(row.key.migrate_type));
  return type < types.brief.size() ? types.brief[type] : "UNKNOWN";
}

void write_requests(Sink& out, std::string_view what, const PageTotals::Requests& requests) {
  out.print("{:<30}: {:16}   [ {:16} KB ]\n", what, requests.count, requests.bytes / 1024);
}
PageTotals::Requests without(const PageTotals::Requests& all, const PageTotals::Requests& part) {
  return {all.count - part.count, all.bytes - part.bytes};
}

constexpr MigrateTypes kSince44{
    {"UNMOVABL", "MOVABLE", "RECLAIM", "HIGHATOM", "CMA/ISLT", "UNKNOWN"},
    {"Unmovable", "Movable", "Reclaimable", "HighAtomic", "CMA/Isolated"}};
constexpr MigrateTypes kBefore44{
    {"UNMOVABL", "RECLAIM", "MOVABLE", "RESERVED", "CMA/ISLT", "UNKNOWN"},
    {"Unmovable", "Reclaimable", "Movable", "Reserved", "CMA/Isolated"}};

}  // namespace

const MigrateTypes& MigrateTypes::of_kernel(std::string_view release) {
  uint32_t major = 0, minor = 0;
  const char* end = release.data() + release.size();
  auto [at, error] = std::from_chars(release.data(), end, major);
  if (error != std::errc() || at == end || *at != '.') return kSince44;
  if (std::from_chars(at + 1, end, minor).ec != std::errc()) return kSince44;
  return major < 4 || (major == 4 && minor < 4) ? kBefore44 : kSince44;
}

void write_gfp_names(Sink& out, const GfpNames& names) {
  out.write("#\n# GFP flags\n# ---------\n");
  for (const auto& [flags, name] : names.all())
    out.print("# {:08x}: {:>{}}: {}\n", flags, name.brief, names.width(), name.full);
}

void write_page_rows(Sink& out, const std::vector<PageRow>& rows, const PageTableStyle& style) {
  constexpr std::string_view kFlagsTitle = "GFP flags";
  size_t gfp_width = std::max(kFlagsTitle.size(), style.gfp->width());
  std::string_view which = style.live_only ? "Live" : "Total";
  out.put('\n');
  write_table_line(out);
  if (!style.by_caller) out.print(" {:<16} |", style.pages_are_pfns ? "PFN" : "Page");
  out.print(" {:>5} alloc (KB) | Hits      | Order | Mig.type | {:<{}} | Callsite\n", which,
            kFlagsTitle, gfp_width);
  write_table_line(out);
  int64_t left = style.lines;
  for (const PageRow& row : rows) {
    if (left-- == 0) {
      if (!style.by_caller) out.write(" ...              |");
      out.print(" ...              | ...       | ...   | ...      | {:<{}} | ...\n", "...",
                gfp_width);
      break;
    }
    if (!style.by_caller && style.pages_are_pfns) out.print(" {:16} |", row.key.what);
    if (!style.by_caller && !style.pages_are_pfns) out.print(" {:016x} |", row.key.what);
    out.print(" {:16} | {:9} | {:5} | {:>8} | {:<{}} | {}\n", row.allocated / 1024, row.allocations,
              row.key.order, type_of(row, *style.types), style.gfp->brief(row.key.gfp_flags),
              gfp_width, place_of(row, style));
  }
  write_table_line(out);
}

void write_page_summary(Sink& out, const PageStats& stats, const MigrateTypes& types) {
  const PageTotals& sums = stats.sums();
  PageTotals::Requests both = without(sums.freed, sums.unknown_frees);
  out.write("\nSUMMARY (page allocator)\n========================\n");
  write_requests(out, "Total allocation requests", sums.allocated);
  write_requests(out, "Total free requests", sums.freed);
  out.put('\n');
  write_requests(out, "Total alloc+freed requests", both);
  write_requests(out, "Total alloc-only requests", without(sums.allocated, both));
  write_requests(out, "Total free-only requests", sums.unknown_frees);
  out.put('\n');
  write_requests(out, "Total allocation failures", sums.failed);
  out.put('\n');
  out.print("{:<5}", "Order");
  for (std::string_view heading : types.headings) out.print("  {:>12}", heading);
  out.write("\n-----");
  for (size_t i = 0; i < types.headings.size(); ++i) out.write("  ------------");
  out.put('\n');
  for (size_t order = 0; order < PageStats::kOrders; ++order) {
    out.print("{:5}", order);
    for (int64_t count : stats.orders()[order])
      if (count != 0)
        out.print("  {:12}", count);
      else
        out.print("  {:>12}", '.');
    out.put('\n');
  }
}

}  // namespace sonde
