#include "trace/arguments/btf_text.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <optional>

#include "base/text.h"
#include "event/print_fmt/btf_constants.h"
#include "event/print_fmt/tracepoint_format.h"

namespace sonde {
namespace {

/// "enum hrtimer_mode" of "const enum hrtimer_mode".
std::string_view unqualified(std::string_view type) {
  constexpr std::string_view kConst = "const ";
  while (type.starts_with(kConst)) type.remove_prefix(kConst.size());
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

/// "struct stat" of "struct stat *"; empty if the type is not a pointer to a structure.
std::string_view pointed_structure(std::string_view type) {
  type = unqualified(type);
  size_t star = type.find('*');
  if (star == std::string_view::npos || star + 1 != type.size()) return {};
  type = unqualified(type.substr(0, star));
  return type.starts_with("struct ") ? type : std::string_view();
}

std::optional<uint32_t> enumerator_name(const btf_type* type, uint64_t value) {
  if (btf_is_enum(type)) {
    const struct btf_enum* all = btf_enum(type);
    for (uint16_t i = 0; i < btf_vlen(type); ++i)
      if (static_cast<uint32_t>(all[i].val) == static_cast<uint32_t>(value)) return all[i].name_off;
  } else if (btf_is_enum64(type)) {
    const struct btf_enum64* all = btf_enum64(type);
    for (uint16_t i = 0; i < btf_vlen(type); ++i)
      if (btf_enum64_value(&all[i]) == value) return all[i].name_off;
  }
  return std::nullopt;
}

}  // namespace

struct BtfText::Text {
  std::string chars;

  [[gnu::format(printf, 2, 0)]] static void print(void* self, const char* format, va_list values) {
    constexpr size_t kMostAtOnce = 512;
    char piece[kMostAtOnce];
    int size = std::vsnprintf(piece, sizeof piece, format, values);
    if (size > 0)
      static_cast<Text*>(self)->chars.append(piece, std::min(size_t(size), sizeof piece - 1));
  }
};

void BtfText::Free::operator()(btf* types) const {
  btf__free(types);
}
void BtfText::Free::operator()(btf_dump* dump) const {
  btf_dump__free(dump);
}

BtfText::BtfText() = default;
BtfText::BtfText(BtfText&&) noexcept = default;
BtfText& BtfText::operator=(BtfText&&) noexcept = default;
BtfText::~BtfText() = default;

Result<BtfText> BtfText::parse(Bytes bytes) {
  BtfText own;
  libbpf_print_fn_t before = libbpf_set_print(nullptr);
  own.types_.reset(btf__new(bytes.data(), static_cast<uint32_t>(bytes.size())));
  libbpf_set_print(before);
  if (!own.types_) return fail(ErrorCode::kCorrupt, "not BTF");
  return own;
}

BtfText BtfText::none() {
  BtfText nothing;
  nothing.is_loaded_ = true;
  return nothing;
}

bool BtfText::load() {
  if (!is_loaded_ && !types_) {
    libbpf_print_fn_t before = libbpf_set_print(nullptr);
    types_.reset(btf__parse_raw(kKernelBtf));
    libbpf_set_print(before);
  }
  is_loaded_ = true;
  return types_ != nullptr;
}

Result<> BtfText::check() {
  if (load()) return {};
  return fail(ErrorCode::kUnsupported,
              "--force-btf: the kernel's types ({}) cannot be read: it needs CONFIG_DEBUG_INFO_BTF",
              kKernelBtf);
}

uint32_t BtfText::type_of(std::string_view name) {
  auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  uint32_t& id = ids_[std::string(name)];
  size_t blank = name.find(' ');
  if (blank == std::string_view::npos || !load()) return id;
  std::string own(name.substr(blank + 1));
  auto find = [&](uint32_t kind) {
    int found = btf__find_by_name_kind(types_.get(), own.c_str(), kind);
    if (id == 0 && found > 0) id = static_cast<uint32_t>(found);
  };
  if (name.starts_with("struct ")) find(BTF_KIND_STRUCT);
  if (name.starts_with("enum ")) {
    find(BTF_KIND_ENUM);
    find(BTF_KIND_ENUM64);
  }
  return id;
}

std::string_view BtfText::enumerator(std::string_view declaration, uint64_t value) {
  std::string_view name = unqualified(declaration);
  if (!name.starts_with("enum ")) return {};
  uint32_t id = type_of(name);
  const btf_type* type = id == 0 ? nullptr : btf__type_by_id(types_.get(), id);
  if (type == nullptr) return {};
  std::optional<uint32_t> found = enumerator_name(type, value);
  const char* text = found ? btf__name_by_offset(types_.get(), *found) : nullptr;
  return text == nullptr ? std::string_view() : text;
}

std::string_view BtfText::declared(std::string_view call, size_t index) {
  auto known = calls_.find(call);
  if (known == calls_.end()) {
    known = calls_.try_emplace(std::string(call)).first;
    auto text = tracefs_.format({"syscalls", "sys_enter_" + std::string(call)});
    auto format = text ? TracepointFormat::parse(*text, "syscalls")
                       : Result<TracepointFormat>(std::unexpected(text.error()));
    // The first field is the call's number.
    for (size_t i = 1; format && i < format->fields().size(); ++i)
      known->second.push_back(format->fields()[i].type);
  }
  return index < known->second.size() ? std::string_view(known->second[index]) : std::string_view();
}

bool BtfText::append_pointed(std::string_view declaration, Bytes bytes, const Style& style,
                             std::string& out) {
  std::string_view name = pointed_structure(declaration);
  uint32_t id = name.empty() ? 0 : type_of(name);
  if (id == 0) return false;
  auto size = btf__resolve_size(types_.get(), id);
  if (size <= 0 || bytes.size() < static_cast<uint64_t>(size)) return false;
  if (!dump_) {
    text_ = std::make_unique<Text>();
    dump_.reset(btf_dump__new(types_.get(), Text::print, text_.get(), nullptr));
    if (!dump_) return false;
  }
  btf_dump_type_data_opts how{};
  how.sz = sizeof how;
  how.compact = true;
  how.skip_names = !style.names;
  how.emit_zeroes = style.zeros;
  text_->chars.clear();
  if (btf_dump__dump_type_data(dump_.get(), id, bytes.data(), static_cast<size_t>(size), &how) < 0)
    return false;
  out += text_->chars;
  return true;
}

}  // namespace sonde
