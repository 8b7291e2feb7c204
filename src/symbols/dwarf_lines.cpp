#include "symbols/dwarf_lines.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "symbols/dwarf_constants.hpp"

namespace loft::symbols {

using namespace dwarf;

// Reads the header and runs the program, row by row.
class DwarfLines::Program {
 public:
  Program(const DwarfReader& reader, const DwarfUnit& unit, DwarfLines& lines)
      : reader_(reader),
        unit_(unit),
        lines_(lines),
        in_(reader.sections().line, reader.sections().order) {}

  void run() {
    if (!unit_.statement_list || unit_.statement_list.number > reader_.sections().line.size())
      return;
    if (!read_header()) return;
    while (in_.ok() && !in_.at_end()) step();
    // A sequence that was not ended has no known size; leave it out.
    lines_.rows_.resize(sequence_start_);
    sort_sequences();
  }

  void outline(std::uint32_t value, std::vector<Span>& into) {
    outline_ = &into;
    value_ = value;
    if (!read_header()) return;
    while (in_.ok() && !in_.at_end()) step();
  }

 private:
  struct ContentFormat {
    std::uint64_t content;
    std::uint64_t form;
  };

  bool read_header() {
    const Bytes section = reader_.sections().line;
    const ByteOrder order = reader_.sections().order;
    in_ = ByteReader(section, order, static_cast<std::size_t>(unit_.statement_list.number));
    unit_.offset_size = 4;
    std::uint64_t length = in_.u32();
    if (length == 0xffffffff) {
      unit_.offset_size = 8;
      length = in_.u64();
    }
    if (!in_.ok() || length > in_.remaining()) return false;
    in_ = ByteReader(section.first(in_.position() + static_cast<std::size_t>(length)), order,
                     in_.position());
    version_ = in_.u16();
    if (version_ < 2 || version_ > 5) return false;
    if (version_ >= 5) {
      unit_.address_size = in_.u8();
      in_.skip(1);  // segment selector size
    }
    const std::uint64_t header_length = in_.sized(unit_.offset_size);
    const std::uint64_t program = in_.position() + header_length;
    if (!in_.ok() || header_length > in_.remaining()) return false;
    read_parameters();
    if (outline_ != nullptr) {
      go_to(section, program);
      return line_range_ != 0;
    }
    add_folder(reader_.text(unit_, unit_.compilation_folder));
    const bool has_files = version_ >= 5 ? read_tables() : read_old_tables();
    go_to(section, program);
    return has_files && line_range_ != 0;
  }

  void go_to(Bytes section, std::uint64_t program) {
    in_ = ByteReader(section.first(in_.position() + in_.remaining()), in_.order(),
                     static_cast<std::size_t>(program));
  }

  void read_parameters() {
    least_instruction_ = in_.u8();
    if (version_ >= 4) in_.skip(1);  // operations per instruction, for VLIW
    in_.skip(1);                     // default of is_stmt
    line_base_ = static_cast<std::int8_t>(in_.u8());
    line_range_ = in_.u8();
    opcode_base_ = in_.u8();
    operands_.assign(opcode_base_, 0);
    for (unsigned i = 1; i < opcode_base_; ++i) operands_[i] = in_.u8();
  }

  // Folders are complete paths, as far as the compiler knew: relative ones start where it ran.
  void add_folder(std::string_view name) {
    folders_.push_back(name.starts_with('/') || folders_.empty() ? std::string(name)
                                                                 : join_path(folders_[0], name));
  }

  std::string in_folder(std::uint64_t folder, std::string_view name) const {
    if (name.starts_with('/') || folder >= folders_.size()) return std::string(name);
    return join_path(folders_[static_cast<std::size_t>(folder)], name);
  }

  bool read_old_tables() {
    for (std::string_view name = in_.text(); !name.empty(); name = in_.text()) add_folder(name);
    lines_.files_.emplace_back();  // they count from 1
    for (std::string_view name = in_.text(); !name.empty(); name = in_.text()) {
      const std::uint64_t folder = in_.uleb();
      in_.uleb();  // time of change
      in_.uleb();  // size
      lines_.files_.push_back(in_folder(folder, name));
    }
    return in_.ok();
  }

  bool read_tables() {
    std::string compiled_in = std::move(folders_[0]);
    folders_.clear();
    if (!read_table([&](std::uint64_t, std::string_view name) { add_folder(name); })) return false;
    if (folders_.empty()) folders_.push_back(std::move(compiled_in));
    return read_table([&](std::uint64_t folder, std::string_view name) {
      lines_.files_.push_back(in_folder(folder, name));
    });
  }

  template <class Take>
  bool read_table(const Take& take) {
    std::vector<ContentFormat> formats(in_.u8());
    for (ContentFormat& format : formats) {
      format.content = in_.uleb();
      format.form = in_.uleb();
    }
    const std::uint64_t count = in_.uleb();
    if (!in_.ok() || (formats.empty() && count != 0) || count > in_.remaining()) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t folder = 0;
      std::string_view name;
      for (const ContentFormat& format : formats) {
        if (format.content == kLinePath && format.form == kFormString) {
          name = in_.text();
          continue;
        }
        const DwarfValue value =
            reader_.read_value(unit_, static_cast<std::uint32_t>(format.form), 0, in_);
        if (format.content == kLinePath) name = reader_.text(unit_, value);
        if (format.content == kLineFolderIndex) folder = value.number;
      }
      if (!in_.ok()) return false;
      take(folder, name);
    }
    return true;
  }

  void step() {
    const std::uint8_t opcode = in_.u8();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      address_ += std::uint64_t{least_instruction_} * (adjusted / line_range_);
      line_ += static_cast<std::uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      emit();
      return;
    }
    switch (opcode) {
      case kLineExtended:
        extended();
        break;
      case kLineCopy:
        emit();
        break;
      case kLineAdvancePc:
        address_ += least_instruction_ * in_.uleb();
        break;
      case kLineAdvanceLine:
        line_ += static_cast<std::uint32_t>(in_.sleb());
        break;
      case kLineSetFile:
        file_ = static_cast<std::uint32_t>(in_.uleb());
        break;
      case kLineConstAddPc:
        address_ += std::uint64_t{least_instruction_} * ((255u - opcode_base_) / line_range_);
        break;
      case kLineFixedAdvancePc:
        address_ += in_.u16();
        break;
      default:
        for (unsigned i = 0; i < operands_[opcode]; ++i) in_.uleb();
    }
  }

  void extended() {
    const std::uint64_t size = in_.uleb();
    if (size == 0) return;
    ByteReader body(in_.take(size), in_.order());
    switch (body.u8()) {
      case kLineEndSequence:
        end_sequence();
        break;
      case kLineSetAddress:
        if (body.remaining() > 0 && body.remaining() <= 8) address_ = body.sized(body.remaining());
        break;
      case kLineDefineFile: {
        const std::string_view name = body.text();
        lines_.files_.push_back(in_folder(body.uleb(), name));
        break;
      }
      default:
        break;
    }
  }

  void emit() {
    if (outline_ != nullptr) {
      start_ = start_.value_or(address_);
      return;
    }
    auto& rows = lines_.rows_;
    const bool is_repeat = rows.size() > sequence_start_ && rows.back().file == file_ &&
                           rows.back().line == line_ && rows.back().address <= address_;
    if (!is_repeat) rows.push_back({address_, file_, line_});
  }

  void end_sequence() {
    if (outline_ != nullptr) {
      if (start_ && is_kept_code(*start_)) outline_->push_back({*start_, address_, value_});
      start_.reset();
      return start_again();
    }
    auto& rows = lines_.rows_;
    const bool is_code =
        rows.size() > sequence_start_ && is_kept_code(rows[sequence_start_].address);
    if (is_code) {
      sequences_.push_back({rows[sequence_start_].address, sequence_start_, rows.size() + 1});
      rows.push_back({address_, kEndOfSequence, 0});
    } else {
      rows.resize(sequence_start_);  // thrown away by the linker
    }
    sequence_start_ = rows.size();
    start_again();
  }

  // What the linker threw away was moved to address 0, or to the very end.
  static bool is_kept_code(std::uint64_t address) {
    return address != 0 && address < ~std::uint64_t{0} - 1;
  }

  void start_again() {
    address_ = 0;
    file_ = 1;
    line_ = 1;
  }

  void sort_sequences() {
    auto& rows = lines_.rows_;
    const auto by_start = [](const Sequence& a, const Sequence& b) { return a.start < b.start; };
    if (!std::is_sorted(sequences_.begin(), sequences_.end(), by_start)) {
      std::stable_sort(sequences_.begin(), sequences_.end(), by_start);
      std::vector<Row> sorted;
      sorted.reserve(rows.size());
      for (const Sequence& sequence : sequences_)
        sorted.insert(sorted.end(), rows.begin() + static_cast<std::ptrdiff_t>(sequence.first),
                      rows.begin() + static_cast<std::ptrdiff_t>(sequence.last));
      rows = std::move(sorted);
    }
    // An end and a start at the same address: the start counts. The rows of a lying file may still
    // be out of order, which a search does not survive.
    const auto by_address = [](const Row& a, const Row& b) { return a.address < b.address; };
    if (!std::is_sorted(rows.begin(), rows.end(), by_address))
      std::stable_sort(rows.begin(), rows.end(), by_address);
    rows.shrink_to_fit();
  }

  struct Sequence {
    std::uint64_t start;
    std::size_t first;
    std::size_t last;
  };

  const DwarfReader& reader_;
  DwarfUnit unit_;  // a copy: the line table has sizes of its own
  DwarfLines& lines_;
  ByteReader in_;
  std::uint16_t version_ = 0;
  std::uint8_t least_instruction_ = 1;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 0;
  std::uint8_t opcode_base_ = 1;
  std::vector<std::uint8_t> operands_;
  std::vector<std::string> folders_;  // the first is where the compiler ran
  std::vector<Sequence> sequences_;
  std::size_t sequence_start_ = 0;
  std::vector<Span>* outline_ = nullptr;  // where nothing but this is wanted
  std::uint32_t value_ = 0;
  std::optional<std::uint64_t> start_;
  std::uint64_t address_ = 0;
  std::uint32_t file_ = 1;
  std::uint32_t line_ = 1;
};

DwarfLines DwarfLines::read(const DwarfReader& reader, const DwarfUnit& unit) {
  DwarfLines lines;
  Program(reader, unit, lines).run();
  return lines;
}

std::optional<SourceLine> DwarfLines::find(std::uint64_t address) const {
  const auto above =
      std::upper_bound(rows_.begin(), rows_.end(), address,
                       [](std::uint64_t wanted, const Row& row) { return wanted < row.address; });
  if (above == rows_.begin()) return std::nullopt;
  const Row& row = *std::prev(above);
  const std::string_view path = row.file == kEndOfSequence ? std::string_view() : file(row.file);
  if (path.empty()) return std::nullopt;
  return SourceLine{path, row.line};
}

std::string_view DwarfLines::file(std::uint64_t number) const {
  return number < files_.size() ? std::string_view(files_[static_cast<std::size_t>(number)])
                                : std::string_view();
}

bool DwarfLines::names_all_files() const {
  return std::none_of(files_.begin(), files_.end(),
                      [](const std::string& file) { return file.empty(); });
}

void DwarfLines::add_outline(const DwarfReader& reader, const DwarfUnit& unit, std::uint32_t value,
                             std::vector<Span>& into) {
  DwarfLines nothing;
  Program(reader, unit, nothing).outline(value, into);
}

}  // namespace loft::symbols
