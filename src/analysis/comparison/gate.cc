#include "analysis/comparison/gate.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace sonde {
namespace {

std::vector<std::string_view> split_outside_slashes(std::string_view list) {
  std::vector<std::string_view> parts;
  size_t start = 0;
  bool inside = false;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '/') inside = !inside;
    if (i < list.size() && (list[i] != ',' || inside)) continue;
    parts.push_back(list.substr(start, i - start));
    start = i + 1;
  }
  return parts;
}

Result<Gate> parse_gate(std::string_view text) {
  auto wrong = [&] {
    return fail(ErrorCode::kUsage,
                "--gate '{}': a gate is METRIC>NUMBER or METRIC>NUMBER%, as in task-clock>2%",
                text);
  };
  size_t sign = text.rfind('>');
  if (sign == std::string_view::npos) return wrong();
  Gate gate;
  gate.text = std::string(text);
  gate.metric = std::string(trim(text.substr(0, sign)));
  std::string_view number = trim(text.substr(sign + 1));
  gate.limit.is_share = number.ends_with('%');
  if (gate.limit.is_share) number = trim(number.substr(0, number.size() - 1));
  double amount = 0;
  auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), amount);
  if (gate.metric.empty() || number.empty() || error != std::errc() ||
      end != number.data() + number.size() || !std::isfinite(amount) || amount < 0)
    return wrong();
  gate.limit.amount = gate.limit.is_share ? amount / 100 : amount;
  return gate;
}

}  // namespace

Result<std::vector<Gate>> parse_gates(std::string_view list) {
  std::vector<Gate> gates;
  for (std::string_view text : split_outside_slashes(list))
    gates.push_back(TRY(parse_gate(trim(text))));
  return gates;
}

}  // namespace sonde
