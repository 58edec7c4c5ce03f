#include "perfdata/text/fields.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace sonde {
namespace {

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::optional<uint64_t> context_named(std::string_view name) {
  constexpr std::pair<std::string_view, uint64_t> kContexts[] = {
      {"hv", abi::kContextHv},
      {"kernel", abi::kContextKernel},
      {"user", abi::kContextUser},
      {"user_deferred", abi::kContextUserDeferred},
      {"guest", abi::kContextGuest},
      {"guest_kernel", abi::kContextGuestKernel},
      {"guest_user", abi::kContextGuestUser},
  };
  for (const auto& [text, value] : kContexts)
    if (text == name) return value;
  return std::nullopt;
}

}  // namespace

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> take_quoted(std::string_view& text) {
  std::string out;
  text.remove_prefix(1);
  while (!text.empty()) {
    char c = text.front();
    text.remove_prefix(1);
    if (c == '"') return out;
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) break;
    char escape = text.front();
    text.remove_prefix(1);
    if (escape == 'n') {
      out += '\n';
    } else if (escape == 'x' && text.size() >= 2 && hex_digit(text[0]) >= 0 &&
               hex_digit(text[1]) >= 0) {
      out += static_cast<char>(hex_digit(text[0]) * 16 + hex_digit(text[1]));
      text.remove_prefix(2);
    } else {
      out += escape;
    }
  }
  return fail(ErrorCode::kCorrupt, "a string has no closing quote");
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + '"';
}

std::optional<std::vector<std::byte>> parse_hex_bytes(std::string_view text) {
  std::vector<std::byte> out;
  for (size_t i = 0; i < text.size();) {
    if (is_blank(text[i])) {
      ++i;
      continue;
    }
    if (i + 1 >= text.size() || hex_digit(text[i]) < 0 || hex_digit(text[i + 1]) < 0)
      return std::nullopt;
    out.push_back(static_cast<std::byte>(hex_digit(text[i]) * 16 + hex_digit(text[i + 1])));
    i += 2;
  }
  return out;
}

std::optional<uint64_t> parse_signed_number(std::string_view text) {
  if (!text.starts_with('-')) return parse_number(text);
  auto value = parse_number(text.substr(1));
  if (!value) return std::nullopt;
  return uint64_t{0} - *value;
}

Result<Fields> Fields::parse(std::string_view line) {
  Fields fields;
  while (true) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty() || line.front() == '#') return fields;
    size_t end = 0;
    while (end < line.size() && !is_blank(line[end]) && line[end] != '=') ++end;
    Field field{std::string(line.substr(0, end)), {}, false, false};
    line.remove_prefix(end);
    if (line.starts_with('=')) {
      field.has_value = true;
      line.remove_prefix(1);
      if (line.starts_with('"')) {
        field.value = TRY(take_quoted(line));
      } else {
        end = std::min(line.find_first_of(" \t"), line.size());
        field.value = line.substr(0, end);
        line.remove_prefix(end);
      }
    }
    if (fields.has(field.name)) return fail(ErrorCode::kCorrupt, "field {} twice", field.name);
    fields.fields_.push_back(std::move(field));
  }
}

bool Fields::has(std::string_view name) const {
  return std::ranges::any_of(fields_, [&](const Field& f) { return f.name == name; });
}

Fields::Field* Fields::use(std::string_view name) {
  auto found = std::ranges::find(fields_, name, &Field::name);
  if (found == fields_.end()) return nullptr;
  found->used = true;
  return &*found;
}

void Fields::complain(const Field& field, std::string_view wanted) {
  if (wrong_.empty()) wrong_ = fmt::format("{}={}: {} expected", field.name, field.value, wanted);
}

uint64_t Fields::number(const Field& field, std::string_view text) {
  auto value = parse_signed_number(text);
  if (!value) complain(field, "a number");
  return value.value_or(0);
}

uint64_t Fields::u64(std::string_view name, uint64_t fallback) {
  Field* field = use(name);
  return field == nullptr ? fallback : number(*field, field->value);
}

double Fields::real(std::string_view name, double fallback) {
  Field* field = use(name);
  if (field == nullptr) return fallback;
  char* end = nullptr;
  double value = std::strtod(field->value.c_str(), &end);
  if (field->value.empty() || *end != '\0') complain(*field, "a number");
  return value;
}

bool Fields::flag(std::string_view name) {
  Field* field = use(name);
  if (field == nullptr) return false;
  return !field->has_value || number(*field, field->value) != 0;
}

std::string_view Fields::text(std::string_view name) {
  Field* field = use(name);
  return field == nullptr ? std::string_view() : field->value;
}

Bytes Fields::bytes(std::string_view name) {
  Field* field = use(name);
  if (field == nullptr) return {};
  std::string_view value = field->value;
  if (!value.starts_with("hex:")) return as_bytes(value);
  auto bytes = parse_hex_bytes(value.substr(4));
  if (!bytes) complain(*field, "pairs of hex digits");
  ByteBuilder& store = store_.emplace_back();
  if (bytes) store.bytes(*bytes);
  return store.view();
}

std::vector<std::string_view> Fields::list(std::string_view name) {
  std::string_view value = text(name);
  if (value.empty()) return {};
  return split(value, ',');
}

WordView Fields::words(std::string_view name) {
  Field* field = use(name);
  if (field == nullptr) return {};
  ByteBuilder& store = store_.emplace_back();
  for (std::string_view item : list(name)) {
    auto context = context_named(item);
    store.u64(context ? *context : number(*field, item));
  }
  return {store.view(), store.order()};
}

Result<> Fields::finish() const {
  if (!wrong_.empty()) return fail(ErrorCode::kCorrupt, "{}", wrong_);
  for (const Field& field : fields_)
    if (!field.used) return fail(ErrorCode::kCorrupt, "unknown field {}", field.name);
  return {};
}

}  // namespace sonde
