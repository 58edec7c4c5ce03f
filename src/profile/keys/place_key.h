// PlaceKey: the base of keys whose value depends on a place in code.
#pragma once

#include <map>
#include <set>

#include "profile/keys/key_tools.h"

namespace sonde {

class PlaceKey : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  [[nodiscard]] bool is_of_place() const override { return true; }

 protected:
  /// DSOs shown under the same name are treated as one.
  DsoId same_named(DsoId dso) {
    if (!dso.valid()) return dso;
    if (same_named_.size() <= dso.index()) same_named_.resize(dso.index() + 1);
    DsoId& known = same_named_[dso.index()];
    if (known.valid()) return known;
    known = by_name_.try_emplace(name_of(dso), dso).first->second;
    if (known != dso) several_.insert(known);
    return known;
  }
  /// Whether the DSO returned by same_named stands for several.
  [[nodiscard]] bool stands_for_several(DsoId dso) const {
    return !several_.empty() && several_.contains(dso);
  }
  [[nodiscard]] std::string_view name_of(DsoId dso) const {
    if (dso.valid() && settings_.verbose) return input_.dsos[dso].path;
    return input_.dso_name(dso);
  }

 private:
  std::vector<DsoId> same_named_;  // by DsoId, once asked for
  std::map<std::string_view, DsoId> by_name_;
  std::set<DsoId> several_;
};

}  // namespace sonde
