// The tables and summaries of `kmem stat`.
#pragma once

#include <functional>
#include <string>

#include "base/sink.h"
#include "kmem/gfp_names.h"
#include "kmem/page_stats.h"
#include "kmem/slab_stats.h"
#include "replay/passes/scan_machine.h"

namespace sonde {

/// Which rows to show, and how to show call sites.
struct KmemTableStyle {
  const ScanMachine* symbols = nullptr;  // null: addresses
  int64_t lines = -1;                    // maximum number of rows; -1: all
  bool by_caller = false;                // otherwise by object or page
};

/// The rule above and below headings and at the end of a table.
void write_table_line(Sink& out);

void write_slab_rows(Sink& out, const std::vector<SlabRow>& rows, const KmemTableStyle& style);
void write_slab_summary(Sink& out, const SlabTotals& sums);

/// The meaning of migrate type numbers: include/linux/mmzone.h. Linux 4.4 reordered them.
struct MigrateTypes {
  std::array<std::string_view, 6> brief;
  std::array<std::string_view, PageStats::kMigrateTypes> headings;

  /// By the kernel's release, "6.1.0-13-amd64"; an unknown one is assumed newer.
  static const MigrateTypes& of_kernel(std::string_view release);
};

struct PageTableStyle : KmemTableStyle {
  const GfpNames* gfp = nullptr;
  const MigrateTypes* types = nullptr;
  bool live_only = false;
  bool pages_are_pfns = true;
};

void write_gfp_names(Sink& out, const GfpNames& names);
void write_page_rows(Sink& out, const std::vector<PageRow>& rows, const PageTableStyle& style);
void write_page_summary(Sink& out, const PageStats& stats, const MigrateTypes& types);

}  // namespace sonde
