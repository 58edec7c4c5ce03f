"""Programs whose compiling makes deep and varied stacks, for the oracles of unwinding."""

CPLUSPLUS = """
#include <map>
#include <regex>
#include <string>
int count(const std::string& text) {
  std::map<std::string, int> words;
  std::regex word("[a-z]+");
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i) ++words[i->str()];
  return static_cast<int>(words.size());
}
"""
