// Where exceptions are caught: the tables of landing pads that .eh_frame refers to. The unwinder
// jumps to these, and nothing in the code tells.
#ifdef LOFT_HAS_ENGINE

#include "source/calls/code_file.hpp"
#include "symbols/encoded_pointer.hpp"

namespace loft::source::calls {
namespace {

using symbols::kFormatMask;
using symbols::kOmitted;

std::uint64_t read_encoded(ByteReader& in, std::uint8_t encoding, std::uint64_t place) {
  return symbols::read_pointer(in, encoding, sizeof(std::uint64_t), place);
}

// Reads the table of each function that has one. Where a function and its table are, .eh_frame
// alone tells.
class EntryReader {
 public:
  EntryReader(Bytes frames, std::uint64_t address, Bytes tables, std::uint64_t tables_address,
              std::vector<std::uint64_t>& into)
      : frames_(frames),
        address_(address),
        tables_(tables),
        tables_address_(tables_address),
        into_(into) {}

  void run() {
    ByteReader in(frames_, ByteOrder::little);
    while (in.remaining() >= 4) {
      const std::uint32_t length = in.u32();
      if (length == 0) continue;
      if (length == 0xffffffff || length > in.remaining()) return;
      const std::size_t body = in.position();
      ByteReader entry(frames_.first(body + length), ByteOrder::little, body);
      const std::uint32_t back = entry.u32();
      if (back != 0 && back <= body) read_function(entry, body - back);
      in.skip(length);
    }
  }

 private:
  struct Common {
    std::uint8_t code = 0;
    std::uint8_t table = kOmitted;
  };

  // The encodings that an entry shares with others.
  [[nodiscard]] Common common_at(std::size_t at) const {
    Common common;
    ByteReader in(frames_, ByteOrder::little, at);
    in.skip(8);
    const std::uint8_t version = in.u8();
    const std::string_view letters = in.text();
    in.uleb();
    in.sleb();
    if (version == 1)
      in.skip(1);
    else
      in.uleb();
    if (!letters.starts_with('z')) return common;
    in.uleb();
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') common.code = in.u8();
      if (letter == 'L') common.table = in.u8();
      if (letter == 'P') {
        const std::uint8_t encoding = in.u8();
        read_encoded(in, encoding & kFormatMask, 0);
      }
    }
    return in.ok() ? common : Common{};
  }

  void read_function(ByteReader& in, std::size_t common_position) {
    const Common common = common_at(common_position);
    if (common.table == kOmitted) return;
    const std::uint64_t start = read_encoded(in, common.code, address_ + in.position());
    read_encoded(in, common.code & kFormatMask, 0);
    in.uleb();
    const std::uint64_t table = read_encoded(in, common.table, address_ + in.position());
    if (!in.ok() || table < tables_address_ || table - tables_address_ >= tables_.size()) return;
    read_table(start, static_cast<std::size_t>(table - tables_address_));
  }

  void read_table(std::uint64_t start, std::size_t at) {
    ByteReader in(tables_, ByteOrder::little, at);
    std::uint64_t base = start;
    const std::uint8_t base_encoding = in.u8();
    if (base_encoding != kOmitted)
      base = read_encoded(in, base_encoding, tables_address_ + in.position());
    if (in.u8() != kOmitted) in.uleb();
    const std::uint8_t encoding = in.u8();
    const std::uint64_t length = in.uleb();
    if (!in.ok() || length > in.remaining()) return;
    const std::size_t end = in.position() + static_cast<std::size_t>(length);
    while (in.ok() && in.position() < end) {
      read_encoded(in, encoding, 0);
      read_encoded(in, encoding, 0);
      const std::uint64_t pad = read_encoded(in, encoding, 0);
      in.uleb();
      if (in.ok() && pad != 0) into_.push_back(base + pad);
    }
  }

  Bytes frames_;
  std::uint64_t address_;
  Bytes tables_;
  std::uint64_t tables_address_;
  std::vector<std::uint64_t>& into_;
};

}  // namespace

void CodeFile::find_landing_pads() {
  const symbols::ElfSection* frames = elf_->section(".eh_frame");
  const symbols::ElfSection* tables = elf_->section(".gcc_except_table");
  if (frames == nullptr || tables == nullptr) return;
  EntryReader(elf_->content(*frames), frames->address, elf_->content(*tables), tables->address,
              targets_)
      .run();
}

}  // namespace loft::source::calls

#endif
