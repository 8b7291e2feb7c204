// Call frame information of a file (.eh_frame, .debug_frame): how to get from a function's frame to
// its caller's, at each address.
//
//   const UnwindTable table(*elf);
//   if (const auto row = table.row(address)) use(row->cfa_register, row->cfa_offset, row->rules);
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "symbols/elf_file.hpp"

namespace loft::symbols {

inline constexpr std::size_t kUnwindRegisters = 33;  // x86-64 has 17, arm64 31, sp and pc

// Where the caller's value of a register is.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    unspecified,       // still in the register
    undefined,         // lost; of the return address: there is no caller
    same,              // still in the register
    saved,             // in memory at CFA + offset
    offset,            // CFA + offset itself
    in_register,       // in register `offset`
    saved_expression,  // in memory at the value of an expression
    expression,        // the value of an expression
  };
  Kind kind = Kind::unspecified;
  std::uint8_t number = 0;  // of the register
  std::int32_t offset = 0;
  std::uint32_t expression_at = 0;  // in the table's expressions()
  std::uint32_t expression_size = 0;
};

struct UnwindRow {
  bool cfa_is_expression = false;
  bool is_signal_frame = false;  // the return address is exact, not behind a call
  std::uint8_t cfa_register = 0;
  std::uint8_t return_register = 0;
  std::int32_t cfa_offset = 0;
  std::uint32_t cfa_expression_at = 0;
  std::uint32_t cfa_expression_size = 0;
  std::vector<RegisterRule> rules;  // of those registers that have one
};

class UnwindTable {
 public:
  explicit UnwindTable(const ElfFile& elf);

  [[nodiscard]] std::optional<UnwindRow> row(std::uint64_t address) const;
  // The function that an address lies in, as far as unwinding tells functions apart: known for
  // stripped files, too.
  struct Range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
  };
  [[nodiscard]] std::optional<Range> function_around(std::uint64_t address) const;

  [[nodiscard]] bool is_empty() const { return functions_.empty(); }

  // The bytes of an expression that a row refers to.
  [[nodiscard]] Bytes expression(std::uint32_t at, std::uint32_t size) const;
  [[nodiscard]] ByteOrder order() const { return order_; }

 private:
  struct Common {  // what several functions share
    std::uint64_t code_factor = 1;
    std::int64_t data_factor = 1;
    std::uint64_t return_register = 0;
    std::uint8_t encoding = 0;
    std::uint8_t address_size = 8;
    bool has_augmentation_data = false;
    bool is_signal_frame = false;
    std::size_t first = 0;  // its instructions in the section
    std::size_t last = 0;
  };
  struct Function {
    std::uint64_t start;
    std::uint64_t end;
    std::uint32_t common;
    std::uint32_t first;  // its instructions
    std::uint32_t last;
  };
  class Scan;
  class Machine;

  [[nodiscard]] const Function* find(std::uint64_t address) const;

  Bytes bytes_;
  std::uint64_t section_address_ = 0;
  ByteOrder order_ = ByteOrder::little;
  bool is_arm64_ = false;
  std::vector<Common> commons_;
  std::vector<Function> functions_;  // by start
};

}  // namespace loft::symbols
