// The code of a binary, as patching it needs to know it: where functions are, and where somebody
// may jump to. Addresses are those of the file.
//
//   LOFT_TRY(const auto file, CodeFile::open("/usr/bin/app"));
//   for (const CodeFunction& function : file->functions())
//     if (file->is_target_within(function.start + 1, function.start + 5)) leave_alone(function);
//
// A target too many makes a function unwatchable; one too few breaks the program. So everything
// that could be a jump is taken for one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "symbols/elf_file.hpp"

namespace loft::source::calls {

struct CodeFunction {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string_view name;     // as in the file; the best known where several share the address
  bool is_resolver = false;  // its name is another function's, which it chooses (ifunc)

  [[nodiscard]] std::uint64_t end() const { return start + size; }
};

// Addresses of instructions in a binary that set the base of gs: F3 0F AE with a register, with a
// prefix of REX before 0F where it is of 64 bits. No other code has these bytes but by rare chance.
[[nodiscard]] std::vector<std::uint64_t> find_segment_writes(const symbols::ElfFile& elf);

class CodeFile {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const CodeFile>> open(const std::string& path);
  // Of a file that is at hand; `debug` has further symbols, or is null.
  [[nodiscard]] static std::shared_ptr<const CodeFile> of(
      std::shared_ptr<const symbols::ElfFile> binary,
      std::shared_ptr<const symbols::ElfFile> debug);

  [[nodiscard]] const symbols::ElfFile& elf() const { return *elf_; }
  // By address; those of unknown size are left out.
  [[nodiscard]] const std::vector<CodeFunction>& functions() const { return functions_; }
  // All names of a function, the best known first.
  [[nodiscard]] std::vector<std::string_view> names_of(const CodeFunction& function) const;
  // Null where none is.
  [[nodiscard]] const CodeFunction* function_around(std::uint64_t address) const;
  [[nodiscard]] const CodeFunction* function_at(std::uint64_t address) const;
  // The functions next to it, or null.
  [[nodiscard]] const CodeFunction* before(const CodeFunction& function) const;
  [[nodiscard]] const CodeFunction* behind(const CodeFunction& function) const;

  // The bytes of code from an address to the end of its section; empty where there is none.
  [[nodiscard]] Bytes code_at(std::uint64_t address) const;
  // Those of any loaded section, as the file has them.
  [[nodiscard]] Bytes data_at(std::uint64_t address) const;

  // Whether a jump of another function, a pointer or a symbol leads to [first, last).
  [[nodiscard]] bool is_target_within(std::uint64_t first, std::uint64_t last) const;
  // Whether data points to [first, last): labels of a computed goto are among these.
  [[nodiscard]] bool is_pointed_at_within(std::uint64_t first, std::uint64_t last) const;

  // Where an instruction sets the base of gs (wrgsbase).
  [[nodiscard]] const std::vector<std::uint64_t>& segment_writes() const { return segment_writes_; }

 private:
  CodeFile() = default;
  void read_symbols(const symbols::ElfFile* debug);
  void find_jumps();
  void find_pointers();
  void find_relocated_pointers();
  void find_landing_pads();
  [[nodiscard]] bool is_code(std::uint64_t address) const;
  [[nodiscard]] Bytes bytes_at(std::uint64_t address, bool only_code) const;

  std::shared_ptr<const symbols::ElfFile> elf_;
  std::shared_ptr<const symbols::ElfFile> debug_;  // names lie in it
  struct Name {
    std::uint64_t start = 0;
    std::string_view text;
  };
  std::vector<CodeFunction> functions_;
  std::vector<Name> names_;              // by start
  std::vector<std::uint64_t> targets_;   // sorted
  std::vector<std::uint64_t> pointers_;  // sorted
  std::vector<std::uint64_t> segment_writes_;
  std::uint64_t first_code_ = 0;
  std::uint64_t last_code_ = 0;
};

}  // namespace loft::source::calls
