#include "script/memory_lines.h"

#include "script/field_texts.h"
#include "script/frame_texts.h"

namespace sonde {

void write_memory_lines(const Session& session, const MemoryLineStyle& style, Sink& out) {
  std::string_view separator = style.separator.empty() ? " " : std::string_view(style.separator);
  out.write("# PID, TID, IP, ADDR, ");
  if (style.physical_addresses) out.write("PHYS ADDR, ");
  if (style.page_sizes) out.write("DATA PAGE SIZE, ");
  out.write("LOCAL WEIGHT, DSRC, SYMBOL\n");
  const SampleColumns& columns = session.samples();
  std::string page_size;
  for (uint32_t row : session.time_order()) {
    const Frame& code = session.frame(columns.leaf[row]);
    if (style.hide_unresolved && !code.symbol.valid()) continue;
    Sample sample;
    session.decode(row, sample);
    out.print("{1}{0}{2}{0}{3:#x}{0}{4:#x}{0}", separator,
              static_cast<int32_t>(recorded_task(sample.id.pid)),
              static_cast<int32_t>(recorded_task(sample.id.tid)), sample.ip, sample.addr);
    if (style.physical_addresses) out.print("0x{:016x}{}", sample.phys_addr, separator);
    if (style.page_sizes) {
      page_size.clear();
      script::append_page_size(sample.data_page_size, page_size);
      out.print("{}{}", std::string_view(page_size).substr(1), separator);
    }
    out.print("{}{}{:#x}{}{}:{}\n", sample.weight, separator, sample.data_src, separator,
              code.dso.valid() ? dso_text(session, code.dso, true) : "???",
              code.symbol.valid() ? session.symbolizer().label(code.symbol) : "???");
    if (out.failed() != 0) return;
  }
}

}  // namespace sonde
