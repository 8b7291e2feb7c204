#include "view/parquet.hpp"

#include <bit>

#include "view/gzip.hpp"

namespace loft::view {
namespace {

constexpr std::uint64_t kRowsOfGroup = 100'000;
constexpr std::string_view kMagic = "PAR1";

// Numbers of parquet.thrift.
enum Type { kBoolean = 0, kInt64 = 2, kByteArray = 6 };
enum Encoding { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum Codec { kGzip = 2 };
enum PageType { kDataPage = 0, kDictionaryPage = 2 };
enum Repetition { kRequired = 0, kOptional = 1 };
enum ConvertedType { kUtf8 = 0, kUint64 = 14 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void put_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

// Thrift's compact protocol, as far as Parquet's structs need it.
class Thrift {
 public:
  void integer(int field, std::int64_t value, int type = kI32) {
    head(field, type);
    put_varint(out_,
               static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  void long_integer(int field, std::uint64_t value) {
    integer(field, static_cast<std::int64_t>(value), kI64);
  }
  void text(int field, std::string_view value) {
    head(field, kBinary);
    bare_text(value);
  }
  void bare_text(std::string_view value) {
    put_varint(out_, value.size());
    out_ += value;
  }
  void bare_integer(std::int64_t value) {
    put_varint(out_, static_cast<std::uint64_t>(value) << 1);
  }
  void list(int field, std::size_t size, int type) {
    head(field, kList);
    if (size < 15) {
      out_ += static_cast<char>(size << 4 | static_cast<std::size_t>(type));
      return;
    }
    out_ += static_cast<char>(0xf0 | type);
    put_varint(out_, size);
  }
  // A struct as a field; end() closes it. As an element of a list it has no field.
  void begin(int field) {
    head(field, kStruct);
    begin_element();
  }
  void begin_element() { last_.push_back(0); }
  void end() {
    out_ += '\0';
    last_.pop_back();
  }
  [[nodiscard]] std::string finish() {
    out_ += '\0';
    return std::move(out_);
  }

  static constexpr int kI32 = 5;
  static constexpr int kI64 = 6;
  static constexpr int kBinary = 8;
  static constexpr int kList = 9;
  static constexpr int kStruct = 12;

 private:
  // Fields are numbered by their distance from the one before, which is below 16 here.
  void head(int field, int type) {
    out_ += static_cast<char>((field - last_.back()) << 4 | type);
    last_.back() = field;
  }

  std::string out_;
  std::vector<int> last_ = {0};
};

// Levels of a column that may lack values: runs of equal bits.
std::string levels_of(const std::vector<bool>& is_there) {
  std::string runs;
  for (std::size_t i = 0; i < is_there.size();) {
    std::size_t end = i;
    while (end < is_there.size() && is_there[end] == is_there[i]) ++end;
    put_varint(runs, (end - i) << 1);
    runs += is_there[i] ? '\1' : '\0';
    i = end;
  }
  std::string out;
  put_little(out, runs.size(), 4);
  return out + runs;
}

// Places in a dictionary: runs of equal ones, each in as many bytes as the width needs.
std::string indexed(const std::vector<std::uint32_t>& places, std::size_t dictionary) {
  const int width = dictionary <= 1 ? 1 : static_cast<int>(std::bit_width(dictionary - 1));
  std::string out(1, static_cast<char>(width));
  for (std::size_t i = 0; i < places.size();) {
    std::size_t end = i;
    while (end < places.size() && places[end] == places[i]) ++end;
    put_varint(out, (end - i) << 1);
    put_little(out, places[i], (width + 7) / 8);
    i = end;
  }
  return out;
}

std::string bits_of(const std::vector<std::uint64_t>& values) {
  std::string out((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) out[i / 8] = static_cast<char>(out[i / 8] | 1 << (i % 8));
  return out;
}

Type type_of(const ParquetColumn& column) {
  if (column.type == ParquetType::text) return kByteArray;
  return column.type == ParquetType::boolean ? kBoolean : kInt64;
}

}  // namespace

void ParquetWriter::Values::clear() {
  texts.clear();
  index.clear();
  places.clear();
  numbers.clear();
  is_there.clear();
}

ParquetWriter::ParquetWriter(std::vector<ParquetColumn> columns, Sink sink)
    : columns_(std::move(columns)), sink_(std::move(sink)), values_(columns_.size()) {
  put(kMagic);
}

void ParquetWriter::put(std::string_view bytes) {
  offset_ += bytes.size();
  (void)sink_(bytes);  // whoever owns the file knows of a write that failed
}

void ParquetWriter::add_text(std::size_t column, std::string_view value) {
  Values& values = values_[column];
  const auto [found, is_new] =
      values.index.try_emplace(std::string(value), static_cast<std::uint32_t>(values.texts.size()));
  if (is_new) values.texts.emplace_back(value);
  values.places.push_back(found->second);
}

void ParquetWriter::add_unsigned(std::size_t column, std::optional<std::uint64_t> value) {
  values_[column].is_there.push_back(value.has_value());
  if (value) values_[column].numbers.push_back(*value);
}

void ParquetWriter::add_boolean(std::size_t column, bool value) {
  values_[column].numbers.push_back(value ? 1 : 0);
}

void ParquetWriter::end_row() {
  if (++rows_ < kRowsOfGroup) return;
  if (auto put = put_group(); !put && !failed_) failed_ = std::move(put).error();
}

Result<void> ParquetWriter::put_page(bool is_dictionary, std::uint64_t values, bool is_indexed,
                                     const std::string& plain, Chunk& chunk) {
  LOFT_TRY(const std::string packed, gzipped(plain, "compress the table"));
  Thrift head;
  head.integer(1, is_dictionary ? kDictionaryPage : kDataPage);
  head.integer(2, static_cast<std::int64_t>(plain.size()));
  head.integer(3, static_cast<std::int64_t>(packed.size()));
  head.begin(is_dictionary ? 7 : 5);
  head.integer(1, static_cast<std::int64_t>(values));
  head.integer(2, is_indexed ? kRleDictionary : kPlain);
  if (!is_dictionary) {
    head.integer(3, kRle);
    head.integer(4, kRle);
  }
  head.end();
  const std::string header = head.finish();
  chunk.plain += header.size() + plain.size();
  chunk.packed += header.size() + packed.size();
  put(header);
  put(packed);
  return {};
}

Result<ParquetWriter::Chunk> ParquetWriter::put_chunk(const ParquetColumn& column,
                                                      const Values& values) {
  Chunk chunk;
  std::string plain;
  if (column.type == ParquetType::text) {
    for (const std::string& text : values.texts) {
      put_little(plain, text.size(), 4);
      plain += text;
    }
    chunk.dictionary_offset = offset_;
    LOFT_CHECK(put_page(true, values.texts.size(), false, plain, chunk));
    chunk.data_offset = offset_;
    LOFT_CHECK(put_page(false, rows_, true, indexed(values.places, values.texts.size()), chunk));
    return chunk;
  }
  if (column.type == ParquetType::optional_unsigned) plain = levels_of(values.is_there);
  if (column.type == ParquetType::boolean)
    plain = bits_of(values.numbers);
  else
    for (const std::uint64_t value : values.numbers) put_little(plain, value, 8);
  chunk.data_offset = offset_;
  LOFT_CHECK(put_page(false, rows_, false, plain, chunk));
  return chunk;
}

Result<void> ParquetWriter::put_group() {
  if (rows_ == 0) return {};
  Group group;
  group.rows = rows_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    LOFT_TRY(group.chunks.emplace_back(), put_chunk(columns_[i], values_[i]));
    values_[i].clear();
  }
  rows_ = 0;
  groups_.push_back(std::move(group));
  return {};
}

// FileMetaData.
std::string ParquetWriter::footer() const {
  Thrift meta;
  std::uint64_t rows = 0;
  for (const Group& group : groups_) rows += group.rows;
  meta.integer(1, 1);
  meta.list(2, columns_.size() + 1, Thrift::kStruct);
  meta.begin_element();
  meta.text(4, "job");
  meta.integer(5, static_cast<std::int64_t>(columns_.size()));
  meta.end();
  for (const ParquetColumn& column : columns_) {
    meta.begin_element();
    meta.integer(1, type_of(column));
    meta.integer(3, column.type == ParquetType::optional_unsigned ? kOptional : kRequired);
    meta.text(4, column.name);
    if (type_of(column) == kByteArray) meta.integer(6, kUtf8);
    if (type_of(column) == kInt64) meta.integer(6, kUint64);
    meta.end();
  }
  meta.long_integer(3, rows);
  meta.list(4, groups_.size(), Thrift::kStruct);
  for (const Group& group : groups_) {
    std::uint64_t bytes = 0;
    meta.begin_element();
    meta.list(1, columns_.size(), Thrift::kStruct);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Chunk& chunk = group.chunks[i];
      const bool is_indexed = chunk.dictionary_offset != 0;
      bytes += chunk.plain;
      meta.begin_element();
      meta.long_integer(2, is_indexed ? chunk.dictionary_offset : chunk.data_offset);
      meta.begin(3);
      meta.integer(1, type_of(columns_[i]));
      meta.list(2, 3, Thrift::kI32);
      for (const Encoding encoding : {kPlain, kRle, kRleDictionary}) meta.bare_integer(encoding);
      meta.list(3, 1, Thrift::kBinary);
      meta.bare_text(columns_[i].name);
      meta.integer(4, kGzip);
      meta.long_integer(5, group.rows);
      meta.long_integer(6, chunk.plain);
      meta.long_integer(7, chunk.packed);
      meta.long_integer(9, chunk.data_offset);
      if (is_indexed) meta.long_integer(11, chunk.dictionary_offset);
      meta.end();
      meta.end();
    }
    meta.long_integer(2, bytes);
    meta.long_integer(3, group.rows);
    meta.end();
  }
  meta.text(6, "loft");
  return meta.finish();
}

Result<void> ParquetWriter::finish() {
  if (failed_) return Failure(*failed_);
  LOFT_CHECK(put_group());
  std::string end = footer();
  put_little(end, end.size(), 4);
  end += kMagic;
  put(end);
  return {};
}

}  // namespace loft::view
