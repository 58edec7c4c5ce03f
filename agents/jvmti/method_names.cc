#include "method_names.h"

#include <algorithm>

namespace sonde_jvmti {
namespace {

/// Frees what JVMTI allocated.
template <typename T>
class Owned {
 public:
  explicit Owned(jvmtiEnv& jvmti) : jvmti_(jvmti) {}
  ~Owned() {
    if (value_ != nullptr) jvmti_.Deallocate(reinterpret_cast<unsigned char*>(value_));
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T** out() { return &value_; }
  T* get() const { return value_; }

 private:
  jvmtiEnv& jvmti_;
  T* value_ = nullptr;
};

std::string_view text_of(const Owned<char>& owned) {
  return owned.get() == nullptr ? std::string_view() : std::string_view(owned.get());
}

/// A dot in an internal name separates the name of a hidden class, such as a lambda's, from a
/// suffix that is the address of its description (JVMTI, GetClassSignature): that differs from run
/// to run.
std::string dotted(std::string_view internal) {
  std::string name(internal.substr(0, internal.find('.')));
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

/// Removes one type from the front of a descriptor (Java Virtual Machine Specification, 4.3).
std::string take_type(std::string_view& descriptor) {
  size_t dimensions = 0;
  while (dimensions < descriptor.size() && descriptor[dimensions] == '[') ++dimensions;
  descriptor.remove_prefix(dimensions);
  if (descriptor.empty()) return {};
  std::string type;
  char kind = descriptor.front();
  descriptor.remove_prefix(1);
  switch (kind) {
    case 'B':
      type = "byte";
      break;
    case 'C':
      type = "char";
      break;
    case 'D':
      type = "double";
      break;
    case 'F':
      type = "float";
      break;
    case 'I':
      type = "int";
      break;
    case 'J':
      type = "long";
      break;
    case 'S':
      type = "short";
      break;
    case 'Z':
      type = "boolean";
      break;
    case 'V':
      type = "void";
      break;
    case 'L': {
      size_t end = std::min(descriptor.find(';'), descriptor.size());
      type = dotted(descriptor.substr(0, end));
      descriptor.remove_prefix(std::min(end + 1, descriptor.size()));
      break;
    }
    default:
      type = kind;
      break;
  }
  for (; dimensions > 0; --dimensions) type += "[]";
  return type;
}

}  // namespace

std::string readable_method(std::string_view class_signature, std::string_view name,
                            std::string_view signature) {
  std::string owner = take_type(class_signature);
  std::string arguments;
  if (signature.starts_with('(')) {
    signature.remove_prefix(1);
    while (!signature.empty() && signature.front() != ')') {
      if (!arguments.empty()) arguments += ", ";
      arguments += take_type(signature);
    }
    if (!signature.empty()) signature.remove_prefix(1);
  }
  std::string result = take_type(signature);
  if (!result.empty()) result += ' ';
  return result + owner + "." + std::string(name) + "(" + arguments + ")";
}

MethodNames::Method& MethodNames::of(jmethodID method) {
  auto [entry, added] = known_.try_emplace(method);
  if (added) entry->second = read(method);
  return entry->second;
}

MethodNames::Method MethodNames::read(jmethodID method) const {
  Owned<char> name(jvmti_), signature(jvmti_), class_signature(jvmti_), file(jvmti_);
  jclass owner = nullptr;
  Method known;
  if (jvmti_.GetMethodName(method, name.out(), signature.out(), nullptr) != JVMTI_ERROR_NONE)
    return {"[unloaded method]", {}, {}};
  if (jvmti_.GetMethodDeclaringClass(method, &owner) == JVMTI_ERROR_NONE) {
    (void)jvmti_.GetClassSignature(owner, class_signature.out(), nullptr);
    if (jvmti_.GetSourceFileName(owner, file.out()) == JVMTI_ERROR_NONE) known.file = text_of(file);
  }
  known.function = readable_method(text_of(class_signature), text_of(name), text_of(signature));
  // "com/example/Hot.java": the package is the directory.
  std::string_view internal = text_of(class_signature);
  size_t slash = internal.rfind('/');
  if (!known.file.empty() && internal.starts_with('L') && slash != std::string_view::npos)
    known.file = std::string(internal.substr(1, slash)) + known.file;
  Owned<jvmtiLineNumberEntry> lines(jvmti_);
  jint count = 0;
  if (jvmti_.GetLineNumberTable(method, &count, lines.out()) == JVMTI_ERROR_NONE)
    known.lines.assign(lines.get(), lines.get() + count);
  std::sort(known.lines.begin(), known.lines.end(),
            [](const auto& a, const auto& b) { return a.start_location < b.start_location; });
  return known;
}

Frame MethodNames::frame(jmethodID method, jint bytecode) {
  const Method& known = of(method);
  Frame frame{known.function, known.file, 0};
  for (const jvmtiLineNumberEntry& line : known.lines)
    if (line.start_location <= bytecode || frame.line == 0)
      frame.line = static_cast<uint32_t>(line.line_number);
  return frame;
}

}  // namespace sonde_jvmti
