// Every tracepoint of the running kernel, printed by libtraceevent and by us, on synthetic samples
// that are valid for the event's format. Differences must fall into a class that
// docs/differences-tracepoints.md explains. Needs a readable tracefs: root.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <regex>
#include <set>

#include "base/file.h"
#include "event/print_fmt/field_format.h"
#include "event/print_fmt/print_fmt.h"
#include "libtraceevent_oracle.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

constexpr int kSamplesPerEvent = 40;

/// Generates raw data that is valid for a format; the same for the same seed.
class SampleBuilder {
 public:
  SampleBuilder(uint32_t seed, bool has_sockets) : random_(seed), has_sockets_(has_sockets) {}

  std::string make(const TracepointFormat& format) {
    size_t end = 8;
    for (const TracepointField& field : format.all_fields())
      end = std::max(end, size_t{field.offset} + field.size);
    std::string raw(end, '\0');
    for (const TracepointField& field : format.all_fields()) fill(field, raw);
    store(raw, 0, format.id(), 2);
    raw.resize((raw.size() + 7) / 8 * 8);
    return raw;
  }

 private:
  uint64_t pick(uint64_t limit) { return random_() % limit; }

  uint64_t value(const TracepointField& field) {
    // libtraceevent trusts the lengths in a sample and reads past its end.
    if (field.name.ends_with("len")) return pick(4);
    if (field.is_pointer || field.is_long)
      if (pick(3) == 0) return oracle::TraceEvent::kFunction + pick(0x10000);
    switch (pick(4)) {
      case 0:
        return pick(8);
      case 1:
        return uint64_t{1} << pick(64);
      case 2:
        return pick(5000);
      default:
        return random_();
    }
  }

  static void store(std::string& raw, size_t offset, uint64_t number, size_t size) {
    for (size_t i = 0; i < size; ++i) raw[offset + i] = static_cast<char>(number >> (8 * i));
  }

  /// Letters, terminated by a NUL and padded with NULs.
  std::string letters(size_t size) {
    std::string text(size, '\0');
    size_t used = size == 0 ? 0 : pick(size);
    for (size_t i = 0; i < used; ++i) text[i] = static_cast<char>('a' + pick(26));
    return text;
  }
  std::string bytes(size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random_());
    // Whether the library treats bytes as text depends on the first sample that it sees.
    if (!text.empty()) text[0] = static_cast<char>(text[0] | 0x80);
    return text;
  }

  void fill(const TracepointField& field, std::string& raw) {
    bool is_text = field.is_string;
    if (field.is_dynamic) {
      size_t element = field.type.find("cpumask") != std::string::npos ? 8 : field.element_size;
      size_t size = is_text ? 1 + pick(20) : (1 + pick(4)) * std::max<size_t>(element, 4);
      while (raw.size() % 8 != 0) raw += '\0';
      size_t offset = raw.size() - (field.is_rel_dynamic ? field.offset + field.size : 0);
      store(raw, field.offset, size << 16 | offset, 4);
      raw += is_text ? letters(size) : bytes(size);
    } else if (field.is_flexible()) {
      raw += is_text ? letters(12) + '\0' : bytes(16);
    } else if (field.is_array ||
               (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8)) {
      raw.replace(field.offset, field.size, is_text ? letters(field.size) : bytes(field.size));
      // Socket addresses: a family that is printed as text.
      if (has_sockets_ && field.size == 28) store(raw, field.offset, pick(2) == 0 ? 2 : 10, 2);
    } else {
      uint64_t number = value(field);
      if (field.type == "bool") number &= 1;
      store(raw, field.offset, number, field.size);
    }
  }

  std::mt19937_64 random_;
  bool has_sockets_;
};

std::vector<fs::path> format_files() {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator("/sys/kernel/tracing/events", error))
    if (entry.path().filename() == "format") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

PrintContext context() {
  PrintContext context;
  context.symbol = [](uint64_t address) -> std::optional<PrintContext::Symbol> {
    using oracle::TraceEvent;
    if (address < TraceEvent::kFunction) return std::nullopt;
    if (address < TraceEvent::kFunctionEnd)
      return PrintContext::Symbol{"known_function", address - TraceEvent::kFunction};
    return std::nullopt;
  };
  return context;
}

/// The differences that docs/differences-tracepoints.md explains. Each is tied to the format, or
/// names the event, so that nothing else hides behind it.
bool is_explained(const TracepointFormat& format, const std::string& ours,
                  const std::string& theirs) {
  const std::string& fmt = format.print_fmt();
  std::string event = format.system() + ":" + format.name();
  // Negative numbers that are not a known flag or symbol have 64 bits, as the kernel passes them
  // on.
  static const std::regex kExtended("0xffffffff([89a-f][0-9a-f]{7})");
  if (std::regex_replace(ours, kExtended, "0x$1") == std::regex_replace(theirs, kExtended, "0x$1"))
    return true;
  // Names of constants that the kernel left in the format.
  static const std::regex kStrings("\"([^\"\\\\]|\\\\.)*\"");
  static const std::regex kNames("[^A-Za-z_0-9>][A-Z][A-Z0-9]*_[A-Z0-9_]+");
  if (std::regex_search(std::regex_replace(fmt, kStrings, ""), kNames)) return true;
  // A width applies to the whole text of flags, symbols and addresses.
  if (fmt.find("%-8s") != std::string::npos || fmt.find("%3s") != std::string::npos) return true;
  // Bit 63 is a flag too; and a flag of value 0 is always set (as in the kernel).
  if (fmt.find("(1ULL << 63)") != std::string::npos || fmt.find("{ 0u, ") != std::string::npos)
    return true;
  static const std::set<std::string> kEvents{
      "alarmtimer:alarmtimer_cancel",   // int << wraps
      "alarmtimer:alarmtimer_fired",    //
      "alarmtimer:alarmtimer_start",    //
      "alarmtimer:alarmtimer_suspend",  //
      "ext4:ext4_mballoc_alloc",        //
      "kvm:kvm_pic_set_irq",            //
      "btrfs:raid56_read",              // a ? b : c ? d : e
      "btrfs:raid56_write",             //
      "ftrace:bprint",         // the library prints its binary arguments; perf never samples it
      "ipi:ipi_send_cpumask",  // masks in hex, as the kernel prints them
      "kmem:mm_page_alloc_extfrag",    // precedence of < and ==
      "kvm:kvm_nested_vmenter",        // a ? b : c of strings
      "kvm:kvm_pvclock_update",        // s8 is signed
      "kvm:kvm_userspace_exit",        // negative numbers are less than 0
      "kvm:kvm_wait_lapic_expire",     //
      "sched:sched_skip_cpuset_numa",  // %*pbl
      "sock:sock_recv_length",         // negative numbers are less than 0
      "sock:sock_send_length",         // negative numbers are less than 0
      "timer:itimer_state",            // division of negative numbers
      "timer:timer_start",             // precedence of & and |
  };
  return kEvents.contains(event);
}

TEST(Libtraceevent, PrintsTheSame) {
  ASSERT_FALSE(format_files().empty())
      << "no format files: tracefs is not mounted, or not readable";
  size_t compared = 0;
  size_t equal = 0;
  for (const fs::path& path : format_files()) {
    std::string system = path.parent_path().parent_path().filename();
    auto text = read_file(path);
    ASSERT_TRUE(text.has_value());
    auto format = TracepointFormat::parse(*text, system);
    ASSERT_TRUE(format.has_value()) << path << ": " << format.error().message;
    PrintProgram program = PrintProgram::compile(*format, {});
    EXPECT_EQ(program.problem(), "") << path;
    oracle::TraceEvent event(*text, system);
    if (!event.parsed()) continue;
    SampleBuilder maker(format->id(), true);
    for (int i = 0; i < kSamplesPerEvent; ++i) {
      std::string raw = maker.make(*format);
      std::string ours;
      program.print(as_bytes(raw), context(), ours);
      std::string theirs = event.print(as_bytes(raw));
      ++compared;
      equal += ours == theirs ? 1 : 0;
      EXPECT_TRUE(ours == theirs || is_explained(*format, ours, theirs))
          << path << "\n  ours   " << ours << "\n  theirs " << theirs << "\n  "
          << format->print_fmt();
    }
  }
  RecordProperty("compared", std::to_string(compared));
  RecordProperty("equal", std::to_string(equal));
  // So that the classes above cannot grow to cover everything.
  EXPECT_GE(equal, compared * 95 / 100);
}

TEST(Libtraceevent, ListsFieldsTheSame) {
  for (const fs::path& path : format_files()) {
    std::string system = path.parent_path().parent_path().filename();
    auto text = read_file(path);
    ASSERT_TRUE(text.has_value());
    auto format = TracepointFormat::parse(*text, system);
    ASSERT_TRUE(format.has_value());
    // A cpumask after a __data_loc without brackets: the library shows its location, we show its
    // value.
    if (text->find("__data_loc cpumask_t") != std::string::npos) continue;
    // It shows nothing for arrays that extend to the end of the data.
    if (text->find("[];\toffset:") != std::string::npos &&
        text->find("size:0;") != std::string::npos)
      continue;
    // Without its own print format: since 1.7 the library takes the conversions of single fields
    // from there, while the one inside perf 6.1 goes by their types.
    oracle::TraceEvent event(text->substr(0, text->find("print fmt:")) + "print fmt: \"\"\n",
                             system);
    SampleBuilder maker(format->id(), false);
    for (int i = 0; i < kSamplesPerEvent; ++i) {
      std::string raw = maker.make(*format);
      std::string ours;
      append_all_fields(*format, as_bytes(raw), kHostOrder, ours);
      EXPECT_EQ(ours, event.print_fields(as_bytes(raw))) << path;
    }
  }
}

}  // namespace
}  // namespace sonde
