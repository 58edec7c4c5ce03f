// KernelTypes: the types of the kernel's functions, from BTF (kernel documentation, "BPF Type
// Format (BTF)"), which nearly every kernel carries: enough for parameters of functions and their
// members.
//
//   auto types = TRY(KernelTypes::load(""));
//   auto send = types->function("tcp_sendmsg");    // sk, msg, size
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "probe/source/value_types.h"

struct btf;

namespace sonde {

class KernelTypes : public ValueTypes {
 public:
  struct Parameter {
    std::string_view name;
    ValueType type;
  };
  struct Function {
    std::vector<Parameter> parameters;
    ValueType result;
  };

  /// Of the running kernel, or of one of its modules. kNotFound if it has none.
  static Result<std::unique_ptr<KernelTypes>> load(const std::string& module);
  /// The content of a .BTF section; kCorrupt if it is invalid.
  static Result<std::unique_ptr<KernelTypes>> parse(Bytes bytes);
  ~KernelTypes() override;

  /// nullopt if there is none of that name.
  [[nodiscard]] std::optional<Function> function(std::string_view name) const;

  [[nodiscard]] ValueType plain(ValueType type) const override;
  [[nodiscard]] ValueKind kind(ValueType type) const override;
  [[nodiscard]] ValueType target(ValueType type) const override;
  [[nodiscard]] uint64_t size(ValueType type) const override;
  [[nodiscard]] std::optional<ValueMember> member(ValueType record,
                                                  std::string_view name) const override;
  [[nodiscard]] bool is_declaration(ValueType record) const override;
  [[nodiscard]] std::string shown(ValueType type) const override;

 private:
  struct Free {
    void operator()(btf* types) const;
  };
  using Owned = std::unique_ptr<btf, Free>;
  KernelTypes(Owned base, Owned types) : base_(std::move(base)), types_(std::move(types)) {}
  [[nodiscard]] ValueType of(uint32_t id) const { return {this, id}; }

  Owned base_;  // of a module: the kernel's
  Owned types_;
};

}  // namespace sonde
