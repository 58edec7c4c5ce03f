// What the axes of pictures share: round steps, and times and numbers in readable form.
#pragma once

#include <string>
#include <vector>

namespace sonde {

/// The smallest of 1, 2, 5, 10, 20 … (and 0.5, 0.2 …) that divides `span` into at most `at_most`
/// parts. 1 for an empty span.
[[nodiscard]] double round_step(double span, size_t at_most);
/// Multiples of round_step inside [from, to].
[[nodiscard]] std::vector<double> round_ticks(double from, double to, size_t at_most);

/// "850 ns", "12.3 µs", "1.5 ms", "2 s": three digits, no trailing zeros.
[[nodiscard]] std::string time_text(double ns);
/// "1.5k", "2.25M": for labels with little room.
[[nodiscard]] std::string short_number(double value);
/// Up to `digits` digits, no trailing zeros, never an exponent below 1e15.
[[nodiscard]] std::string plain_number(double value, int digits = 6);

}  // namespace sonde
