// Names and lines of Java methods, as people write them: "int Hot.inner(int)", "Hot.java", 12.
#pragma once

#include <jvmti.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dump_writer.h"

namespace sonde_jvmti {

/// "int Hot.inner(int)" from "LHot;", "inner", "(I)I".
std::string readable_method(std::string_view class_signature, std::string_view name,
                            std::string_view signature);

/// Caches what it looked up: use one for each piece of code.
class MethodNames {
 public:
  explicit MethodNames(jvmtiEnv& jvmti) : jvmti_(jvmti) {}
  std::string function(jmethodID method) { return of(method).function; }
  /// The location of a bytecode index.
  Frame frame(jmethodID method, jint bytecode);

 private:
  struct Method {
    std::string function, file;
    std::vector<jvmtiLineNumberEntry> lines;  // by bytecode
  };
  Method& of(jmethodID method);
  [[nodiscard]] Method read(jmethodID method) const;

  jvmtiEnv& jvmti_;
  std::map<jmethodID, Method> known_;
};

}  // namespace sonde_jvmti
