#include "probe/source/kernel_types.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

namespace sonde {
namespace {

constexpr int kMaxBtfHops = 64;
constexpr int kMaxBtfDepth = 16;
/// Of a record with all that is within it. Records that have each other as members have no end.
constexpr size_t kMaxBtfMembers = size_t{1} << 16;

/// libbpf writes what it thinks of its input to standard error, unless told otherwise.
class QuietLibbpf {
 public:
  QuietLibbpf() : before_(libbpf_set_print(nullptr)) {}
  QuietLibbpf(const QuietLibbpf&) = delete;
  QuietLibbpf& operator=(const QuietLibbpf&) = delete;
  ~QuietLibbpf() { libbpf_set_print(before_); }

 private:
  libbpf_print_fn_t before_;
};

const btf_type* type_at(const btf* types, ValueType type) {
  return btf__type_by_id(types, static_cast<uint32_t>(type.number));
}

std::string_view name_at(const btf* types, uint32_t offset) {
  const char* name = btf__name_by_offset(types, offset);
  return name == nullptr ? std::string_view() : name;
}

bool is_hop(const btf_type* type, bool aliases) {
  return btf_is_mod(type) ? !btf_is_typedef(type) || aliases
                          : btf_is_type_tag(type) || (btf_is_typedef(type) && aliases);
}

uint32_t resolve(const btf* types, uint32_t id, bool aliases) {
  for (int hop = 0; hop < kMaxBtfHops; ++hop) {
    const btf_type* type = btf__type_by_id(types, id);
    if (type == nullptr) return 0;
    if (!is_hop(type, aliases)) return id;
    id = type->type;
  }
  return 0;
}

struct Found {
  uint32_t type = 0;
  uint64_t first_bit = 0;
  uint32_t bits = 0;
};

std::optional<Found> find_within(const btf* types, uint32_t id, std::string_view name, int depth,
                                 size_t& seen) {
  const btf_type* record = btf__type_by_id(types, resolve(types, id, true));
  if (record == nullptr || !btf_is_composite(record) || depth > kMaxBtfDepth) return std::nullopt;
  const btf_member* members = btf_members(record);
  for (uint16_t i = 0; i < btf_vlen(record) && seen < kMaxBtfMembers; ++i, ++seen) {
    std::string_view own = name_at(types, members[i].name_off);
    uint64_t bit = btf_member_bit_offset(record, i);
    if (own == name && !own.empty())
      return Found{members[i].type, bit, btf_member_bitfield_size(record, i)};
    if (!own.empty()) continue;
    if (auto inner = find_within(types, members[i].type, name, depth + 1, seen)) {
      inner->first_bit += bit;
      return inner;
    }
  }
  return std::nullopt;
}

std::string shown_within(const btf* types, uint32_t id, int depth) {
  id = resolve(types, id, false);
  const btf_type* type = btf__type_by_id(types, id);
  if (type == nullptr || id == 0 || depth > kMaxBtfDepth) return "void";
  auto name = std::string(name_at(types, type->name_off));
  auto with = [&](std::string_view keyword) {
    return name.empty() ? name : fmt::format("{} {}", keyword, name);
  };
  switch (btf_kind(type)) {
    case BTF_KIND_PTR:
      return shown_within(types, type->type, depth + 1) + "*";
    case BTF_KIND_ARRAY:
      return shown_within(types, btf_array(type)->type, depth + 1) + "*";
    case BTF_KIND_FUNC_PROTO:
      return "(function_type)";
    case BTF_KIND_STRUCT:
      return with("struct");
    case BTF_KIND_UNION:
      return with("union");
    case BTF_KIND_FWD:
      return with(btf_kflag(type) ? "union" : "struct");
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
      return with("enum");
    default:
      return name;
  }
}

}  // namespace

void KernelTypes::Free::operator()(btf* types) const {
  btf__free(types);
}

KernelTypes::~KernelTypes() = default;

Result<std::unique_ptr<KernelTypes>> KernelTypes::load(const std::string& module) {
  QuietLibbpf quiet;
  Owned base(btf__parse_raw("/sys/kernel/btf/vmlinux"));
  if (!base)
    return fail(ErrorCode::kNotFound, "the kernel has no BTF (/sys/kernel/btf/vmlinux: {})",
                std::strerror(errno));
  if (module.empty())
    return std::unique_ptr<KernelTypes>(new KernelTypes(nullptr, std::move(base)));
  std::string path = "/sys/kernel/btf/" + module;
  Owned own(btf__parse_raw_split(path.c_str(), base.get()));
  if (!own)
    return fail(ErrorCode::kNotFound, "module {} has no BTF ({}: {})", module, path,
                std::strerror(errno));
  return std::unique_ptr<KernelTypes>(new KernelTypes(std::move(base), std::move(own)));
}

Result<std::unique_ptr<KernelTypes>> KernelTypes::parse(Bytes bytes) {
  QuietLibbpf quiet;
  Owned types(btf__new(bytes.data(), static_cast<uint32_t>(bytes.size())));
  if (!types)
    return fail(ErrorCode::kCorrupt, "the types of the kernel (BTF) are invalid: {}",
                std::strerror(errno));
  return std::unique_ptr<KernelTypes>(new KernelTypes(nullptr, std::move(types)));
}

std::optional<KernelTypes::Function> KernelTypes::function(std::string_view name) const {
  int id = btf__find_by_name_kind(types_.get(), std::string(name).c_str(), BTF_KIND_FUNC);
  if (id < 0) return std::nullopt;
  const btf_type* type = btf__type_by_id(types_.get(), static_cast<uint32_t>(id));
  const btf_type* prototype = btf__type_by_id(types_.get(), type->type);
  if (prototype == nullptr || !btf_is_func_proto(prototype)) return std::nullopt;
  Function found{.parameters = {}, .result = of(prototype->type)};
  const btf_param* parameters = btf_params(prototype);
  for (uint16_t i = 0; i < btf_vlen(prototype); ++i)
    if (parameters[i].type != 0)  // not "..."
      found.parameters.push_back(
          {name_at(types_.get(), parameters[i].name_off), of(parameters[i].type)});
  return found;
}

ValueType KernelTypes::plain(ValueType type) const {
  return of(resolve(types_.get(), static_cast<uint32_t>(type.number), true));
}

ValueKind KernelTypes::kind(ValueType type) const {
  const btf_type* own = type_at(types_.get(), type);
  if (own == nullptr || type.number == 0) return ValueKind::kOther;
  switch (btf_kind(own)) {
    case BTF_KIND_INT:
      return (btf_int_encoding(own) & BTF_INT_SIGNED) != 0 ? ValueKind::kSigned
                                                           : ValueKind::kUnsigned;
    case BTF_KIND_FLOAT:
      return ValueKind::kFloat;
    case BTF_KIND_ENUM:
    case BTF_KIND_ENUM64:
      return ValueKind::kEnum;
    case BTF_KIND_PTR:
      return ValueKind::kPointer;
    case BTF_KIND_ARRAY:
      return ValueKind::kArray;
    case BTF_KIND_STRUCT:
    case BTF_KIND_UNION:
    case BTF_KIND_FWD:
      return ValueKind::kRecord;
    default:
      return ValueKind::kOther;
  }
}

ValueType KernelTypes::target(ValueType type) const {
  const btf_type* own = type_at(types_.get(), type);
  if (own == nullptr) return {};
  return of(btf_is_array(own) ? btf_array(own)->type : own->type);
}

uint64_t KernelTypes::size(ValueType type) const {
  auto size = btf__resolve_size(types_.get(), static_cast<uint32_t>(type.number));
  return size > 0 ? static_cast<uint64_t>(size) : 0;
}

std::optional<ValueMember> KernelTypes::member(ValueType record, std::string_view name) const {
  size_t seen = 0;
  auto found = find_within(types_.get(), static_cast<uint32_t>(record.number), name, 0, seen);
  if (!found) return std::nullopt;
  return ValueMember{of(found->type), found->first_bit / 8, found->bits, found->first_bit};
}

bool KernelTypes::is_declaration(ValueType record) const {
  const btf_type* own = type_at(types_.get(), record);
  return own != nullptr && btf_is_fwd(own);
}

std::string KernelTypes::shown(ValueType type) const {
  return shown_within(types_.get(), static_cast<uint32_t>(type.number), 0);
}

}  // namespace sonde
