#include "perfdata/header/tracing_data.h"

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kTracingMagic = "\x17\x08\x44tracing";

/// A string up to its NUL; sets the cursor to not ok if there is none.
std::string_view terminated(ByteCursor& in) {
  ByteCursor ahead = in;
  std::string_view text = ahead.fixed_string(ahead.left());
  in.skip(text.size() + 1);
  return text;
}

std::string_view sized_text(ByteCursor& in, uint64_t size) {
  return as_text(in.take(size));
}

/// What follows `key` at the start of a line.
std::string_view line_value(std::string_view text, std::string_view key) {
  for (size_t at = 0; (at = text.find(key, at)) != std::string_view::npos; at += key.size()) {
    if (at > 0 && text[at - 1] != '\n') continue;
    std::string_view rest = text.substr(at + key.size());
    return trim(rest.substr(0, rest.find('\n')));
  }
  return {};
}

TracingData::Format make_format(std::string_view system, std::string_view text) {
  TracingData::Format format;
  format.system = system;
  format.text = text;
  format.name = line_value(text, "name:");
  format.id = static_cast<uint32_t>(parse_number(line_value(text, "ID:")).value_or(0));
  return format;
}

}  // namespace

TracingData TracingData::parse(Bytes section) {
  TracingData data;
  ByteCursor start(section);
  if (as_text(start.take(kTracingMagic.size())) != kTracingMagic) return data;
  data.version_ = terminated(start);
  data.order_ = start.u8() == 0 ? ByteOrder::kLittle : ByteOrder::kBig;
  if (!start.ok()) return data;

  ByteCursor in(section.subspan(start.position()), data.order_);
  std::vector<Format> own;
  data.complete_ = data.read_header(in) && data.read_formats(in, "ftrace", own) &&
                   data.read_systems(in) && data.read_rest(in);
  data.formats_.insert(data.formats_.end(), own.begin(), own.end());
  return data;
}

bool TracingData::read_header(ByteCursor& in) {
  long_size_ = in.u8();
  page_size_ = in.u32();
  if (terminated(in) != "header_page") return false;
  header_page_ = sized_text(in, in.u64());
  if (terminated(in) != "header_event") return false;
  header_event_ = sized_text(in, in.u64());
  return in.ok();
}

bool TracingData::read_formats(ByteCursor& in, std::string_view system,
                               std::vector<Format>& formats) {
  uint32_t count = in.u32();
  if (!in.fits(count, sizeof(uint64_t))) return false;
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view text = sized_text(in, in.u64());
    if (!in.ok()) return false;
    formats.push_back(make_format(system, text));
  }
  return in.ok();
}

bool TracingData::read_systems(ByteCursor& in) {
  uint32_t count = in.u32();
  for (uint32_t i = 0; i < count; ++i) {
    std::string_view system = terminated(in);
    if (!in.ok() || !read_formats(in, system, formats_)) return false;
  }
  return in.ok();
}

bool TracingData::read_rest(ByteCursor& in) {
  kallsyms_ = sized_text(in, in.u32());
  printk_formats_ = sized_text(in, in.u32());
  if (version_ >= "0.6") saved_cmdlines_ = sized_text(in, in.u64());
  return in.ok();
}

const TracingData::Format* TracingData::by_id(uint32_t id) const {
  auto found = std::ranges::find(formats_, id, &Format::id);
  return found == formats_.end() ? nullptr : &*found;
}

const TracingData::Format* TracingData::by_name(std::string_view system,
                                                std::string_view name) const {
  auto found = std::ranges::find_if(
      formats_, [&](const Format& f) { return f.system == system && f.name == name; });
  return found == formats_.end() ? nullptr : &*found;
}

}  // namespace sonde
