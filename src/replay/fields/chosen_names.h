// Lists of names on the command line (--comms, --dsos): which strings and objects of a session they
// choose. Each is compared once, however many samples have it; those that came later are compared
// when they are asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "machine/dso.h"

namespace sonde {

/// Whether a list has the name; an empty one has none.
[[nodiscard]] bool is_listed(const std::vector<std::string>& list, std::string_view name);
/// Whether a list has the object, by its path or the last part of that.
[[nodiscard]] bool is_listed(const std::vector<std::string>& list, const Dso& object);

/// Which strings of a pool a list chooses; an empty list chooses all.
class ChosenNames {
 public:
  /// Both must outlive it.
  ChosenNames(const StringPool& strings, const std::vector<std::string>& list);
  [[nodiscard]] bool has(StringId name) const;

 private:
  const StringPool& strings_;
  const std::vector<std::string>& list_;
  std::vector<bool> chosen_;  // by StringId
};

/// Which objects a list chooses; an empty list chooses all, and code in no object.
class ChosenObjects {
 public:
  /// Both must outlive it.
  ChosenObjects(const DsoTable& objects, const std::vector<std::string>& list);
  [[nodiscard]] bool has(DsoId object) const;

 private:
  const DsoTable& objects_;
  const std::vector<std::string>& list_;
  std::vector<bool> chosen_;  // by DsoId
};

}  // namespace sonde
