// KernelParameters: fetch arguments of a kernel function's parameters where it is entered, without
// debug information: their types come from BTF, their registers from the calling convention (x86-64
// psABI, section 3.2.3; AAPCS64, section 6.8.2).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "probe/requested_probe.h"
#include "probe/source/fetch_text.h"
#include "probe/source/kernel_types.h"
#include "probe/source/probed_code.h"

namespace sonde {

class KernelParameters {
 public:
  /// kNotFound if BTF does not have the function; kUnsupported if compilers may have changed its
  /// parameters (".isra.0").
  static Result<KernelParameters> of(const ProbedCode& code, std::string_view function);

  /// As VariableFetch::add. Local variables are kNotFound: the message says what has them.
  Result<> add(const RequestedArgument& argument, std::vector<std::string>& texts,
               std::vector<std::string>& notes) const;

  /// "struct sock*\tsk", in order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> shown() const;

 private:
  KernelParameters(const ProbedCode& code, const KernelTypes& types, std::string function,
                   KernelTypes::Function prototype)
      : code_(code),
        types_(types),
        function_(std::move(function)),
        prototype_(std::move(prototype)) {}
  [[nodiscard]] Result<FetchText> fetch_of(size_t parameter) const;
  [[nodiscard]] Result<std::string> text_of(const RequestedArgument& argument) const;

  const ProbedCode& code_;
  const KernelTypes& types_;
  std::string function_;
  KernelTypes::Function prototype_;
};

}  // namespace sonde
