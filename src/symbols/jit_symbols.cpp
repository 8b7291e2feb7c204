#include "symbols/jit_symbols.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/bytes.hpp"
#include "base/mapping.hpp"
#include "base/text.hpp"
#include "symbols/binary_finder.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/symbol_array.hpp"

namespace loft::symbols {
namespace {

struct CodeRange {
  std::uint64_t end = 0;
  std::string_view name;
};

// Ranges by start that never overlap: new code takes the place of old.
class CodeMap {
 public:
  void put(std::uint64_t start, std::uint64_t size, std::string_view name) {
    if (size == 0 || start + size < start) return;
    remove(start, start + size);
    ranges_[start] = {start + size, name};
  }

  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
    const auto found = ranges_.find(from);
    if (found == ranges_.end()) return;
    const std::string_view name = found->second.name;
    ranges_.erase(found);
    put(to, size, name);
  }

  [[nodiscard]] std::unique_ptr<SymbolArray> finish(SymbolArray::Builder& builder,
                                                    NameStyle style) const {
    for (const auto& [start, range] : ranges_)
      builder.add({.start = start, .size = range.end - start, .name = range.name});
    return builder.finish(style);
  }

  [[nodiscard]] bool is_empty() const { return ranges_.empty(); }

 private:
  void remove(std::uint64_t start, std::uint64_t end) {
    auto at = ranges_.lower_bound(start);
    if (at != ranges_.begin() && std::prev(at)->second.end > start) --at;
    while (at != ranges_.end() && at->first < end) at = ranges_.erase(at);
  }

  std::map<std::uint64_t, CodeRange> ranges_;
};

class JitLines : public DebugInfo {
 public:
  struct Row {
    std::uint64_t address;
    SourceLine line;
  };

  JitLines(std::vector<Row> rows, std::shared_ptr<const void> owner)
      : rows_(std::move(rows)), owner_(std::move(owner)) {
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return a.address < b.address; });
  }

  std::optional<SourceLine> line(std::uint64_t address) const override {
    const auto above =
        std::upper_bound(rows_.begin(), rows_.end(), address,
                         [](std::uint64_t wanted, const Row& row) { return wanted < row.address; });
    if (above == rows_.begin() || std::prev(above)->line.file.empty()) return std::nullopt;
    return std::prev(above)->line;
  }

  std::vector<InlinedFrame> inlined(std::uint64_t) const override { return {}; }

 private:
  std::vector<Row> rows_;
  std::shared_ptr<const void> owner_;
};

// Reads the records of a jitdump.
class Jitdump {
 public:
  explicit Jitdump(Bytes bytes) : bytes_(bytes) {}

  bool read() {
    constexpr std::uint32_t kMagic = 0x4a695444;
    ByteReader magic(bytes_, ByteOrder::little);
    const std::uint32_t number = magic.u32();
    if (number != kMagic && number != __builtin_bswap32(kMagic)) return false;
    order_ = number == kMagic ? ByteOrder::little : ByteOrder::big;
    ByteReader in(bytes_, order_, 8);
    const std::uint32_t header_size = in.u32();
    if (!in.ok() || header_size < 40) return false;
    in = ByteReader(bytes_, order_, header_size);
    while (in.remaining() >= 16) {
      const std::uint32_t kind = in.u32();
      const std::uint32_t size = in.u32();
      in.skip(8);  // time
      if (size < 16) break;
      const Bytes body = in.take(size - 16);
      if (!in.ok()) break;  // the program was ended while it wrote
      read_record(kind, ByteReader(body, order_));
    }
    return true;
  }

  CodeMap code;
  std::vector<JitLines::Row> lines;

 private:
  void read_record(std::uint32_t kind, ByteReader in) {
    enum : std::uint32_t { load = 0, move = 1, debug = 2 };
    if (kind == load) {
      in.skip(4 + 4 + 8);  // process, thread, address in a shared mapping
      const std::uint64_t address = in.u64();
      const std::uint64_t size = in.u64();
      in.skip(8);
      const std::string_view name = in.text();
      if (!in.ok()) return;
      code.put(address, size, name);
      // Behind the code nothing is known: the rows of the function must not reach further.
      if (address == described_) lines.push_back({address + size, {}});
    } else if (kind == move) {
      in.skip(4 + 4 + 8);
      const std::uint64_t from = in.u64();
      const std::uint64_t to = in.u64();
      const std::uint64_t size = in.u64();
      if (in.ok()) code.move(from, to, size);
    } else if (kind == debug) {
      read_lines(in);
    }
  }

  void read_lines(ByteReader in) {
    described_ = in.u64();
    const std::uint64_t count = in.u64();
    std::string_view file;
    for (std::uint64_t i = 0; i < count && in.remaining() > 16; ++i) {
      const std::uint64_t address = in.u64();
      const std::uint32_t line = in.u32();
      in.skip(4);
      const std::string_view name = in.text();
      if (!in.ok()) return;
      if (name != "\xff") file = name;  // "as before"
      lines.push_back({address, {file, line}});
    }
  }

  Bytes bytes_;
  ByteOrder order_ = ByteOrder::little;
  std::uint64_t described_ = 0;
};

// /tmp belongs to everybody: only our own and root's word counts.
std::string reason_not_to_trust(const std::string& path, const SymbolOptions& options) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "no such file";
  if (options.root.is_live() && status.st_uid != 0 && status.st_uid != ::geteuid())
    return "'" + path + "' belongs to another user";
  return {};
}

std::shared_ptr<const Mapping> map_jit_file(const std::string& path, const SymbolOptions& options,
                                            SymbolTable::Parts& parts) {
  const std::string below_root = options.root.at(path);
  parts.binary.path = path;
  parts.is_absolute = true;
  parts.why = reason_not_to_trust(below_root, options);
  if (!parts.why.empty()) return nullptr;
  auto mapping = Mapping::of_file(below_root);
  if (!mapping) {
    parts.why = mapping.error().why;
    return nullptr;
  }
  return std::make_shared<const Mapping>(std::move(*mapping));
}

}  // namespace

SymbolTable::Parts read_perf_map(const std::string& path, const SymbolOptions& options) {
  SymbolTable::Parts parts;
  const auto mapping = map_jit_file(path, options, parts);
  if (mapping == nullptr) return parts;
  const Bytes bytes = mapping->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  CodeMap code;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find(' ');
    const std::size_t second = line.find(' ', std::min(first, line.size() - 1) + 1);
    if (!line.empty() && first != std::string_view::npos && second != std::string_view::npos) {
      const auto digits = [](std::string_view number) {
        return parse_hex(number.starts_with("0x") ? number.substr(2) : number);
      };
      const auto start = digits(line.substr(0, first));
      const auto size = digits(line.substr(first + 1, second - first - 1));
      const std::string_view name = trim(line.substr(second + 1));
      if (start && size && !name.empty()) code.put(*start, *size, name);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (code.is_empty()) parts.why = "the file names no code";
  SymbolArray::Builder builder;
  builder.keep_alive(mapping);
  parts.symbols = code.finish(builder, options.names);
  return parts;
}

SymbolTable::Parts read_jitdump(const std::string& path, const SymbolOptions& options) {
  SymbolTable::Parts parts;
  const auto mapping = map_jit_file(path, options, parts);
  if (mapping == nullptr) return parts;
  Jitdump dump(mapping->bytes());
  if (!dump.read()) {
    parts.why = "it is not a jitdump";
    return parts;
  }
  if (dump.code.is_empty()) parts.why = "the file names no code";
  SymbolArray::Builder builder;
  builder.keep_alive(mapping);
  parts.symbols = dump.code.finish(builder, options.names);
  if (!dump.lines.empty())
    parts.debug_info = std::make_shared<const JitLines>(std::move(dump.lines), mapping);
  return parts;
}

}  // namespace loft::symbols
