#include "export/pictures/flame_files.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "base/text.h"

namespace sonde {
namespace {

bool is_attribute_name(std::string_view name) {
  auto is_part = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == ':';
  };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, is_part);
}

using Attributes = std::vector<std::pair<std::string, std::string>>;

/// `a="1" b='2'`: false for anything else.
bool add_extra(std::string_view text, Attributes& to) {
  for (text = trim(text); !text.empty(); text = trim(text)) {
    size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals + 1 >= text.size()) return false;
    std::string_view name = trim(text.substr(0, equals));
    char quote = text[equals + 1];
    size_t end = text.find(quote, equals + 2);
    if (!is_attribute_name(name) || (quote != '"' && quote != '\'') ||
        end == std::string_view::npos)
      return false;
    to.emplace_back(name, text.substr(equals + 2, end - equals - 2));
    text.remove_prefix(end + 1);
  }
  return true;
}

bool add_attribute(std::string_view name, std::string_view value, FlameNameAttributes& to) {
  if (name == "title") {
    to.title = std::string(value);
  } else if (name == "href" || name == "target") {
    to.of_link.emplace_back(name, value);
  } else if (name == "a_extra") {
    return add_extra(value, to.of_link);
  } else if (name == "g_extra") {
    return add_extra(value, to.of_group);
  } else if (name == "id" || name == "class" || name == "style" || name == "onclick") {
    to.of_group.emplace_back(name, value);
  } else {
    return false;
  }
  return true;
}

/// Without href there is no link; a link without a target opens in the top-level page that shows
/// the picture.
void settle_link(FlameNameAttributes& attributes) {
  Attributes& link = attributes.of_link;
  auto has = [&](std::string_view name) {
    return std::ranges::any_of(link, [&](const auto& each) { return each.first == name; });
  };
  if (!has("href"))
    link.clear();
  else if (!has("target"))
    link.emplace_back("target", "_top");
}

bool is_color(std::string_view text) {
  if (text.starts_with('#'))
    return text.size() == 7 && parse_hex(text.substr(1)) && text.find('x') == text.npos;
  if (!text.starts_with("rgb(") || !text.ends_with(')')) return false;
  auto channels = split(text.substr(4, text.size() - 5), ',');
  return channels.size() == 3 && std::ranges::all_of(channels, [](std::string_view each) {
           auto value = parse_number(trim(each));
           return value && *value <= 255;
         });
}

}  // namespace

Result<FlameAttributeMap> parse_name_attributes(std::string_view text, const std::string& name) {
  FlameAttributeMap map;
  size_t line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    auto fields = split(line, '\t');
    FlameNameAttributes& attributes = map[std::string(fields[0])];
    for (std::string_view field : std::span(fields).subspan(1)) {
      size_t equals = field.find('=');
      if (equals == std::string_view::npos ||
          !add_attribute(field.substr(0, equals), field.substr(equals + 1), attributes))
        return fail(ErrorCode::kCorrupt,
                    "{}:{}: '{}' is none of title=, id=, class=, style=, onclick=, href=, target=, "
                    "g_extra=, a_extra=",
                    name, line_number, field);
    }
    settle_link(attributes);
  }
  return map;
}

Result<FlameColorMap> parse_color_map(std::string_view text, const std::string& name) {
  FlameColorMap map;
  size_t line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    size_t arrow = line.rfind("->");
    if (arrow == std::string_view::npos || !is_color(line.substr(arrow + 2)))
      return fail(ErrorCode::kCorrupt, "{}:{}: expected lines of name->rgb(red,green,blue)", name,
                  line_number);
    map[std::string(line.substr(0, arrow))] = line.substr(arrow + 2);
  }
  return map;
}

std::string color_map_text(const FlameColorMap& colors) {
  std::string text;
  for (const auto& [name, color] : colors) text += name + "->" + color + '\n';
  return text;
}

}  // namespace sonde
