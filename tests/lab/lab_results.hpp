// What loft said in the emulated machine; tests/lab/guest/run names the cases.
//
//   const CaseResult result = result_of("exact");
//   EXPECT_EQ(result.event("cycles:u").at("value"), 2'000'007);
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft::lab {

struct CaseResult {
  int status = -1;
  std::string out;
  std::string notes;    // standard error
  nlohmann::json json;  // what loft wrote with -o; null when it wrote nothing

  // The event of this name in a result of `loft stat`; null when there is none.
  [[nodiscard]] nlohmann::json event(const std::string& name) const {
    if (json.is_object() && json.contains("events"))
      for (const auto& event : json.at("events"))
        if (event.value("name", "") == name) return event;
    return nullptr;
  }
};

inline std::string result_file(const std::string& name) {
  return read_file(std::string(LOFT_LAB_RESULTS "/") + name).value_or("");
}

inline CaseResult result_of(const std::string& name) {
  CaseResult result;
  const auto status = parse_u64(trim(result_file(name + ".status")));
  if (status) result.status = static_cast<int>(*status);
  result.out = result_file(name + ".out");
  result.notes = result_file(name + ".err");
  result.json = nlohmann::json::parse(result_file(name + ".json"), nullptr, false);
  if (result.json.is_discarded()) result.json = nullptr;
  return result;
}

// All cases were skipped when the machine could not be had.
class Lab : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = result_file("skipped"); !why.empty()) GTEST_SKIP() << why;
  }
};

}  // namespace loft::lab
