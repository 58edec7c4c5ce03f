#include "replay/fields/chosen_names.h"

#include <algorithm>

namespace sonde {

bool is_listed(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

bool is_listed(const std::vector<std::string>& list, const Dso& object) {
  return is_listed(list, object.path) || is_listed(list, object.short_name);
}

ChosenNames::ChosenNames(const StringPool& strings, const std::vector<std::string>& list)
    : strings_(strings), list_(list) {
  if (list.empty()) return;
  chosen_.resize(strings.size());
  for (size_t i = 0; i < chosen_.size(); ++i)
    chosen_[i] = is_listed(list, strings.view(StringId(i)));
}

bool ChosenNames::has(StringId name) const {
  if (list_.empty()) return true;
  if (!name.valid()) return false;
  return name.index() < chosen_.size() ? chosen_[name.index()]
                                       : is_listed(list_, strings_.view(name));
}

ChosenObjects::ChosenObjects(const DsoTable& objects, const std::vector<std::string>& list)
    : objects_(objects), list_(list) {
  if (list.empty()) return;
  chosen_.resize(objects.size());
  for (size_t i = 0; i < chosen_.size(); ++i) chosen_[i] = is_listed(list, objects[DsoId(i)]);
}

bool ChosenObjects::has(DsoId object) const {
  if (list_.empty()) return true;
  if (!object.valid()) return false;
  return object.index() < chosen_.size() ? chosen_[object.index()]
                                         : is_listed(list_, objects_[object]);
}

}  // namespace sonde
