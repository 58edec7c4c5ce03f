#include "daemon/request.h"

#include <cstring>

#include "base/check.h"

namespace sonde {
namespace {

constexpr size_t kFirstAt = 4, kSecondAt = 8;

template <typename T>
void store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void store_name(std::byte* at, std::string_view name) {
  CHECK(name.size() < DaemonRequest::kMaxNameSize);
  std::memcpy(at, name.data(), name.size());
}

Result<std::string> load_name(const std::byte* at) {
  std::string_view field(reinterpret_cast<const char*>(at), DaemonRequest::kMaxNameSize);
  size_t end = field.find('\0');
  if (end == std::string_view::npos)
    return fail(ErrorCode::kCorrupt, "daemon request: the session's name has no end");
  return std::string(field.substr(0, end));
}

}  // namespace

std::array<std::byte, DaemonRequest::kSize> DaemonRequest::encode() const {
  std::array<std::byte, kSize> bytes{};
  store(bytes.data(), static_cast<uint32_t>(kind));
  switch (kind) {
    case Kind::kList:
      store<int32_t>(bytes.data() + kFirstAt, verbose);
      store(bytes.data() + kSecondAt, separator);
      break;
    case Kind::kSignal:
      store<int32_t>(bytes.data() + kFirstAt, signal);
      store_name(bytes.data() + kSecondAt, session);
      break;
    case Kind::kPing:
      store_name(bytes.data() + kFirstAt, session);
      break;
    case Kind::kStop:
      break;
  }
  return bytes;
}

Result<DaemonRequest> DaemonRequest::decode(Bytes bytes) {
  if (bytes.size() != kSize)
    return fail(ErrorCode::kCorrupt, "daemon request: {} bytes instead of {}", bytes.size(), kSize);
  DaemonRequest request;
  auto kind = load<uint32_t>(bytes.data());
  if (kind > static_cast<uint32_t>(Kind::kPing))
    return fail(ErrorCode::kCorrupt, "daemon request: unknown kind {}", kind);
  request.kind = static_cast<Kind>(kind);
  auto first = load<int32_t>(bytes.data() + kFirstAt);
  if (request.kind == Kind::kList) {
    request.verbose = first != 0;
    request.separator = load<char>(bytes.data() + kSecondAt);
  } else if (request.kind == Kind::kSignal) {
    request.signal = first;
    request.session = TRY(load_name(bytes.data() + kSecondAt));
  } else if (request.kind == Kind::kPing) {
    request.session = TRY(load_name(bytes.data() + kFirstAt));
  }
  return request;
}

}  // namespace sonde
