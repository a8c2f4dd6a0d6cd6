// What is told of a study in a list of many.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "serve/served_tree.h"

namespace eureka::serve {

class StudyFacts {
 public:
  bool is_current(const OpenDirectory& directory) const;
  void refresh(const OpenDirectory& directory);

  std::string question, baseline;
  std::vector<std::string> arms, points;
  // Of the trials that study.json names: where they lie below the study.
  struct Place {
    std::string arm, point;
  };
  std::map<std::string, Place> places;
  std::optional<std::size_t> planned;  // trials
  std::optional<std::size_t> ended;    // as study.json has it
  bool is_told_in_full = false;        // by study.json: nothing need be worked out anew
  std::int64_t changed = 0;
  std::uint64_t version = 0;  // another at every refresh
  bool is_damaged = false;

 private:
  void read_result(const std::string& text);
  void read_plan(const std::string& text);

  FileStamp plan_, result_;
  bool is_read_ = false;
};

}  // namespace eureka::serve
