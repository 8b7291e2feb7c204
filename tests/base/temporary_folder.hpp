// A test with an empty folder of its own, `path_`, which goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace loft {

class TemporaryFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loft-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::string path_;
};

}  // namespace loft
