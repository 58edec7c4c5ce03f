#include "capture/synthesis/tracing_data_writer.h"

#include <unistd.h>

#include <algorithm>

#include "event/parser/owned_group.h"

namespace sonde {
namespace {

void put_name(std::string_view name, ByteBuilder& out) {
  out.text(name);
  out.u8(0);
}

void put_sized(std::string_view text, ByteBuilder& out) {
  out.u64(text.size());
  out.text(text);
}

struct System {
  std::string name;
  std::vector<std::string> formats;
};

Result<std::vector<System>> read_formats(const std::vector<TracepointName>& tracepoints,
                                         Tracefs& tracefs) {
  std::vector<System> systems;
  std::vector<TracepointName> done;
  for (const TracepointName& tracepoint : tracepoints) {
    if (std::ranges::find(done, tracepoint) != done.end()) continue;
    done.push_back(tracepoint);
    auto system = std::ranges::find(systems, tracepoint.system, &System::name);
    if (system == systems.end()) system = systems.insert(systems.end(), {tracepoint.system, {}});
    system->formats.push_back(TRY(tracefs.format(tracepoint)));
  }
  return systems;
}

}  // namespace

Result<std::vector<std::byte>> tracing_data(const std::vector<TracepointName>& tracepoints,
                                            Tracefs& tracefs) {
  std::vector<System> systems = TRY(read_formats(tracepoints, tracefs));
  ByteBuilder out;
  out.text("\x17\x08\x44tracing");
  put_name("0.6", out);
  out.u8(kHostOrder == ByteOrder::kBig ? 1 : 0);
  out.u8(sizeof(long));
  out.u32(static_cast<uint32_t>(::sysconf(_SC_PAGESIZE)));
  put_name("header_page", out);
  put_sized(TRY(tracefs.file("events/header_page")), out);
  put_name("header_event", out);
  put_sized(TRY(tracefs.file("events/header_event")), out);
  out.u32(0);  // formats of ftrace's own events: not recorded
  out.u32(static_cast<uint32_t>(systems.size()));
  for (const System& system : systems) {
    put_name(shown_group(system.name), out);
    out.u32(static_cast<uint32_t>(system.formats.size()));
    for (const std::string& format : system.formats) put_sized(format, out);
  }
  out.u32(0);  // kallsyms: readers get symbols elsewhere
  std::string printk = tracefs.file("printk_formats").value_or("");
  out.u32(static_cast<uint32_t>(printk.size()));
  out.text(printk);
  put_sized(tracefs.file("saved_cmdlines").value_or(""), out);
  return std::vector<std::byte>(out.view().begin(), out.view().end());
}

}  // namespace sonde
