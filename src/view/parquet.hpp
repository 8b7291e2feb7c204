// A small writer of Parquet: flat tables of texts and integers, dictionary-encoded where a text
// repeats, packed with gzip. What DuckDB, pandas and Spark read.
//
//   ParquetWriter writer({{"node", ParquetType::text}, {"value", ParquetType::optional_unsigned}},
//                        sink);
//   writer.add_text(0, "n1");
//   writer.add_unsigned(1, 42);
//   writer.end_row();
//   LOFT_CHECK(writer.finish());
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"

namespace loft::view {

enum class ParquetType { text, unsigned_number, optional_unsigned, boolean };

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::text;
};

class ParquetWriter {
 public:
  using Sink = std::function<bool(std::string_view)>;

  ParquetWriter(std::vector<ParquetColumn> columns, Sink sink);

  // Every column once for each row.
  void add_text(std::size_t column, std::string_view value);
  void add_unsigned(std::size_t column, std::optional<std::uint64_t> value);
  void add_boolean(std::size_t column, bool value);
  void end_row();

  // What is left, and the index at the end, without which it is no Parquet.
  [[nodiscard]] Result<void> finish();

 private:
  struct Values {
    std::vector<std::string> texts;  // each once: the dictionary
    std::unordered_map<std::string, std::uint32_t> index;
    std::vector<std::uint32_t> places;  // of each row's text in it
    std::vector<std::uint64_t> numbers;
    std::vector<bool> is_there;
    void clear();
  };
  struct Chunk {
    std::uint64_t dictionary_offset = 0;  // 0: none
    std::uint64_t data_offset = 0;
    std::uint64_t packed = 0;
    std::uint64_t plain = 0;
  };
  struct Group {
    std::vector<Chunk> chunks;
    std::uint64_t rows = 0;
  };

  void put(std::string_view bytes);
  [[nodiscard]] Result<void> put_page(bool is_dictionary, std::uint64_t values, bool is_indexed,
                                      const std::string& plain, Chunk& chunk);
  [[nodiscard]] Result<Chunk> put_chunk(const ParquetColumn& column, const Values& values);
  [[nodiscard]] Result<void> put_group();
  [[nodiscard]] std::string footer() const;

  std::vector<ParquetColumn> columns_;
  Sink sink_;
  std::vector<Values> values_;
  std::vector<Group> groups_;
  std::uint64_t rows_ = 0;  // of the group that is being made
  std::uint64_t offset_ = 0;
  std::optional<Error> failed_;
};

}  // namespace loft::view
