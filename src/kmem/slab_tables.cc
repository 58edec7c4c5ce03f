#include "kmem/kmem_tables.h"

namespace sonde {
namespace {

std::string place_of(const SlabRow& row, const KmemTableStyle& style) {
  if (style.by_caller && style.symbols != nullptr)
    if (auto symbol = style.symbols->kernel_symbol(row.what))
      return fmt::format("{}+{:x}", symbol->name, symbol->offset);
  return row.what == 0 ? "0" : fmt::format("{:#x}", row.what);
}

}  // namespace

void write_table_line(Sink& out) {
  constexpr size_t kWidth = 105;
  out.write(std::string(kWidth, '-') + "\n");
}

void write_slab_rows(Sink& out, const std::vector<SlabRow>& rows, const KmemTableStyle& style) {
  write_table_line(out);
  out.print(" {:<34} | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag\n",
            style.by_caller ? "Callsite" : "Alloc Ptr");
  write_table_line(out);
  int64_t left = style.lines;
  for (const SlabRow& row : rows) {
    if (left-- == 0) {
      out.write(
          " ...                                | ...             | ...             | ...      | "
          "...  "
          "     | ...   \n");
      break;
    }
    out.print(" {:<34} | {:9}/{:<5} | {:9}/{:<5} | {:8} | {:9} | {:6.3f}%\n", place_of(row, style),
              row.allocated, row.allocated / row.hits, row.requested, row.requested / row.hits,
              row.hits, row.ping_pongs, row.fragmentation());
  }
  write_table_line(out);
}

void write_slab_summary(Sink& out, const SlabTotals& sums) {
  SlabRow all;
  all.requested = sums.requested;
  all.allocated = sums.allocated;
  out.write("\nSUMMARY (SLAB allocator)\n========================\n");
  out.print("Total bytes requested: {}\n", sums.requested);
  out.print("Total bytes allocated: {}\n", sums.allocated);
  out.print("Total bytes freed:     {}\n", sums.freed);
  // Objects from before the recording may be freed again and again.
  if (sums.allocated > sums.freed)
    out.print("Net total bytes allocated: {}\n", sums.allocated - sums.freed);
  out.print("Total bytes wasted on internal fragmentation: {}\n", sums.allocated - sums.requested);
  out.print("Internal fragmentation: {:f}%\n", all.fragmentation());
  out.print("Cross CPU allocations: {}/{}\n", sums.cross_node, sums.allocations);
}

}  // namespace sonde
