// A folder of its own for each test, and tools to make tiny programs in it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "symbols/symbol_store.hpp"

namespace loft::symbols {

class Workshop : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/loft-symbols-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string at(const std::string& name) const { return folder_ + "/" + name; }

  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(replace_file(at(name), text));
  }

  // Runs a command in the folder; its output, or a failed test.
  std::string run(const std::string& command) const {
    const std::string line = "cd '" + folder_ + "' && { " + command + "; } 2>&1";
    FILE* pipe = ::popen(line.c_str(), "r");
    std::string output;
    std::array<char, 4096> chunk;
    while (const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), pipe))
      output.append(chunk.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << command << "\n" << output;
    return output;
  }

  static bool has_tool(const std::string& name) {
    return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
  }

  // Compiles `source` (C++) to a program.
  void compile(const std::string& source, const std::string& flags, const std::string& output,
               const std::string& compiler = LOFT_CXX) const {
    write(output + ".cpp", source);
    run(compiler + " " + flags + " " + output + ".cpp -o " + output);
  }

  // Options that see nothing of this machine's own debug files and caches.
  [[nodiscard]] SymbolOptions sealed() const {
    SymbolOptions options;
    options.debug_directories = {at("debug")};
    options.build_id_cache = at("cache");
    return options;
  }

  // Addresses of functions by `nm`: name and address.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> functions_by_nm(
      const std::string& file, const std::string& flags = "") const {
    std::vector<std::pair<std::string, std::uint64_t>> functions;
    const std::string output = run("nm " + flags + " " + file);
    for (const std::string_view line : split(output, '\n')) {
      const auto words = split(line, ' ');
      if (words.size() != 3 || (words[1] != "T" && words[1] != "t")) continue;
      if (const auto address = parse_hex(words[0]))
        functions.emplace_back(std::string(words[2]), *address);
    }
    return functions;
  }

  [[nodiscard]] std::uint64_t address_by_nm(const std::string& file,
                                            const std::string& name) const {
    for (const auto& [found, address] : functions_by_nm(file))
      if (found == name) return address;
    ADD_FAILURE() << name << " is not in " << file;
    return 0;
  }

  std::string folder_;
};

// The name of an address, or "-" when there is none.
inline std::string name_at(const SymbolTable& table, std::uint64_t address) {
  const Symbol* symbol = table.find(address);
  return symbol == nullptr ? "-" : std::string(symbol->name);
}

}  // namespace loft::symbols
