#include "stacks/parameter_list.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ParameterList, IsCutOff) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"f(int)", "f"},
      {"f()", "f"},
      {"v8::Function::Call(v8::Handle<v8::Value>, int)", "v8::Function::Call"},
      {"run_it<void (*)(int)>(void (*)(int))", "run_it<void (*)(int)>"},
      {"void std::sort<int*, bool (*)(int, int)>(int*, int*, bool (*)(int, int))",
       "void std::sort<int*, bool (*)(int, int)>"},
      {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
      {"main::'lambda'(int)::operator()(int) const", "main::'lambda'(int)::operator()"},
      {"(anonymous namespace)::run(int)", "(anonymous namespace)::run"},
      {"a::(anonymous namespace)::b(char)", "a::(anonymous namespace)::b"},
      {"a::operator<(a const&, a const&)", "a::operator<"},
      {"a::operator< <int>(int)", "a::operator< <int>"},
      {"a::operator<<(std::ostream&)", "a::operator<<"},
      {"a::operator->() const", "a::operator->"},
      {"a::operator int() const", "a::operator int"},
      {"operator new(unsigned long)", "operator new"},
      {"cooperator(int)", "cooperator"},
      {"f(int) [clone .isra.0] [clone .cold]", "f"},
      {"a::f(int) volatile &&", "a::f"},
      {"auto through<parser*>(parser*&)", "auto through<parser*>"},
      {"System.String::Concat(string,string)[OptimizedTier1]", "System.String::Concat"},
  };
  for (auto [name, shown] : names) EXPECT_EQ(without_parameters(name), shown);
}

TEST(ParameterList, OtherParenthesesStay) {
  for (std::string_view name : {
           "f",
           "",
           "(",
           ")",
           "(lambda)",
           "net/http.(*Client).Do",
           "main::{lambda(int)#1}::operator()",
           "parser::operator void (*)()",
           "painter<(colour)1>::paint",
           "run_it<void (*)()>",
           "<fn(&str) -> T as Call>::call",
           "std::rt::lang_start::<()>::{closure#0}",
           "decltype (({parm#1}->depth)) through<parser*>",
           "(anonymous namespace)",
           "a::(anonymous namespace)",
           "LazyCompile:~(anonymous) /x.js:1:2",
           "JS:~(anonymous)",
           "<module> (app.py)",
           "f<float ",
           "broken(int",
           "broken(int>)",
           "operator",
           "f(int)::local",
           "f(int) constant",
       })
    EXPECT_EQ(without_parameters(name), name);
}

}  // namespace
}  // namespace sonde
