#include "probe/source/kernel_types.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include "probe/source/member_fetch.h"

namespace sonde {
namespace {

/// int send(struct sock *sk, const char *name, size_t size);  struct sock { union { int id; };
/// unsigned flag : 3; };
std::vector<std::byte> small_btf() {
  btf* types = btf__new_empty();
  int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
  int letter = btf__add_int(types, "char", 1, BTF_INT_SIGNED);
  int word = btf__add_int(types, "long unsigned int", 8, 0);
  int size = btf__add_typedef(types, "size_t", word);
  int inner = btf__add_union(types, nullptr, 4);
  btf__add_field(types, "id", number, 0, 0);
  int unsigned_number = btf__add_int(types, "unsigned int", 4, 0);
  int sock = btf__add_struct(types, "sock", 16);
  btf__add_field(types, nullptr, inner, 64, 0);
  btf__add_field(types, "flag", unsigned_number, 96, 3);
  int sock_pointer = btf__add_ptr(types, sock);
  int name = btf__add_ptr(types, btf__add_const(types, letter));
  int prototype = btf__add_func_proto(types, number);
  btf__add_func_param(types, "sk", sock_pointer);
  btf__add_func_param(types, "name", name);
  btf__add_func_param(types, "size", size);
  btf__add_func(types, "send", BTF_FUNC_GLOBAL, prototype);
  uint32_t length = 0;
  const void* raw = btf__raw_data(types, &length);
  std::vector<std::byte> bytes(static_cast<const std::byte*>(raw),
                               static_cast<const std::byte*>(raw) + length);
  btf__free(types);
  return bytes;
}

RequestedArgument asked(std::string what, std::vector<RequestedMember> members = {},
                        std::string type = {}) {
  return {.kind = RequestedArgument::Kind::kVariable,
          .what = std::move(what),
          .members = std::move(members),
          .type = std::move(type)};
}

TEST(KernelTypes, FindsParametersAndMembers) {
  std::vector<std::byte> bytes = small_btf();
  auto types = KernelTypes::parse(bytes).value();
  auto send = types->function("send");
  ASSERT_TRUE(send);
  ASSERT_EQ(send->parameters.size(), 3u);
  EXPECT_EQ(send->parameters[0].name, "sk");
  EXPECT_EQ(types->shown(send->parameters[0].type), "struct sock*");
  EXPECT_EQ(types->shown(send->parameters[1].type), "char*");
  EXPECT_EQ(types->shown(send->parameters[2].type), "size_t");
  auto fetch = [&](size_t parameter, const RequestedArgument& argument) {
    return member_fetch(FetchText::of_register("%di"), send->parameters[parameter].type, argument,
                        *types);
  };
  using Step = RequestedMember::Kind;
  EXPECT_EQ(fetch(0, asked("sk")).value(), "%di:x64");
  EXPECT_EQ(fetch(0, asked("sk", {{Step::kArrow, "id"}})).value(), "+8(%di):s32");
  EXPECT_EQ(fetch(0, asked("sk", {{Step::kArrow, "flag"}})).value(), "+12(%di):b3@0/32");
  EXPECT_EQ(fetch(1, asked("name", {}, "string")).value(), "+0(%di):string");
  EXPECT_EQ(fetch(2, asked("size")).value(), "%di:x64");
  EXPECT_FALSE(fetch(0, asked("sk", {{Step::kDot, "id"}})));
  EXPECT_FALSE(fetch(0, asked("sk", {{Step::kArrow, "nothing"}})));
  EXPECT_FALSE(fetch(2, asked("size", {}, "string")));
  EXPECT_FALSE(types->function("receive"));
}

/// Nobody checks whether a record is within itself; looked through level by level, it has 8^16
/// members.
TEST(KernelTypes, ARecordWithinItselfHasAnEnd) {
  btf* made = btf__new_empty();
  int record = btf__add_struct(made, "r", 64);
  for (uint32_t i = 0; i < 8; ++i) btf__add_field(made, nullptr, record, i * 64, 0);
  int prototype = btf__add_func_proto(made, 0);
  btf__add_func_param(made, "r", record);
  btf__add_func(made, "f", BTF_FUNC_GLOBAL, prototype);
  uint32_t length = 0;
  const void* raw = btf__raw_data(made, &length);
  auto types = KernelTypes::parse({static_cast<const std::byte*>(raw), length});
  ASSERT_TRUE(types);
  auto function = (*types)->function("f");
  ASSERT_TRUE(function);
  EXPECT_FALSE((*types)->member(function->parameters[0].type, "nothing"));
  btf__free(made);
}

/// Whatever is cut off or changed, questions end without a crash.
TEST(KernelTypes, SurvivesDamage) {
  std::vector<std::byte> bytes = small_btf();
  for (size_t size = 0; size < bytes.size(); size += 3) {
    std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(KernelTypes::parse(cut)) << size;
  }
  for (size_t at = 24; at < bytes.size(); ++at) {
    std::vector<std::byte> changed = bytes;
    changed[at] ^= std::byte{0x11};
    auto types = KernelTypes::parse(changed);
    if (!types) continue;
    auto send = (*types)->function("send");
    if (!send) continue;
    for (const KernelTypes::Parameter& parameter : send->parameters) {
      static_cast<void>((*types)->shown(parameter.type));
      static_cast<void>(member_fetch(FetchText::of_register("%di"), parameter.type,
                                     asked("sk", {{RequestedMember::Kind::kArrow, "id"}}),
                                     **types));
    }
  }
}

}  // namespace
}  // namespace sonde
