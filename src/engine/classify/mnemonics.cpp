#include "engine/classify/mnemonics.hpp"

#include <array>
#include <cstring>

namespace loft::engine {
namespace {

struct Row {
  InsnClass insn_class;
  FpOp op;
  std::string_view names;  // separated by blanks; {a,b} are alternatives, (v) may be absent
};

using C = InsnClass;

// Branches, string instructions and x87 are classed by what the decoder says of them; the rows
// here name the rest. A lock prefix, an mmx operand or a memory operand may change the class.
constexpr Row kRows[] = {
#include "engine/classify/mnemonics.inc"
};

// Faults in user mode on every system, or needs a right that programs do not have.
constexpr std::string_view kPrivileged =
    "clac clgi cli clts encl{s,v} getsec hlt hreset in inv{d,ept,lpg,lpga,lpgb,pcid,vpid} "
    "lgdt lidt lldt lmsw loadiwkey ltr mcommit monitor mwait out pconfig psmash pvalidate rdmsr "
    "rmp{adjust,update} rsm seam{call,ops,ret} skinit stac stgi sti swapgs sysexit sysret tdcall "
    "tlbsync vm{call,clear,launch,load,mcall,ptrld,ptrst,read,resume,run,save,write,xoff,xon} "
    "wbinvd wrmsr wruss{d,q} xrstors(64) xsaves(64) xsetbv clrssbsy setssbsy enqcmds";

constexpr std::size_t kMnemonics = ZYDIS_MNEMONIC_MAX_VALUE + 1;

// The decoder's mnemonics are in alphabetical order (a test holds it to that).
ZydisMnemonic find_mnemonic(std::string_view name) {
  std::size_t low = 1, high = kMnemonics;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::string_view here = ZydisMnemonicGetString(static_cast<ZydisMnemonic>(middle));
    if (here == name) return static_cast<ZydisMnemonic>(middle);
    if (here < name)
      low = middle + 1;
    else
      high = middle;
  }
  return ZYDIS_MNEMONIC_INVALID;
}

// The letters after the name of an operation: packed or scalar, half, single or double.
void read_suffix(std::string_view name, MnemonicFacts& facts) {
  if (name.size() < 3) return;
  const char kind = name[name.size() - 2];
  const char letter = name[name.size() - 1];
  if (kind != 'p' && kind != 's') return;
  if (letter == 's') facts.precision = Precision::single;
  if (letter == 'd') facts.precision = Precision::double_;
  if (letter == 'h') facts.precision = Precision::half;
  facts.is_scalar = kind == 's' && facts.precision != Precision::none;
}

bool is_scalar_conversion(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  for (const char* stem :
       {"cvtss", "cvtsd", "cvtsh", "cvtsi", "cvtusi", "cvttss", "cvttsd", "cvttsh"})
    if (name.starts_with(stem)) return true;
  return false;
}

void read_floating_point(std::string_view name, MnemonicFacts& facts) {
  switch (facts.insn_class) {
    case C::fp_convert:
      facts.is_scalar = is_scalar_conversion(name);
      return;
    case C::amx_compute:
      if (facts.op == FpOp::none) return;
      [[fallthrough]];
    case C::fp_arith:
      read_suffix(name, facts);
      if (name.find("bf16") != std::string_view::npos) facts.precision = Precision::bfloat16;
      return;
    case C::fp_compare:
    case C::fp_move:
    case C::fp_logic:
    case C::fp_other:
      read_suffix(name, facts);
      return;
    case C::fp_shuffle:
      read_suffix(name, facts);
      facts.is_scalar = false;  // vbroadcastss fills a vector
      return;
    default:
      return;
  }
}

// No allocation while it fills: the engine classifies inside the program that it runs.
using Table = std::array<MnemonicFacts, kMnemonics>;

struct Filling {
  Table* table;
  const Row* row;  // null: the names are the privileged ones
  std::vector<std::string>* unknown = nullptr;
};

void enter_name(std::string_view name, void* context) {
  const auto& filling = *static_cast<Filling*>(context);
  const ZydisMnemonic mnemonic = find_mnemonic(name);
  if (mnemonic == ZYDIS_MNEMONIC_INVALID) {
    if (filling.unknown != nullptr) filling.unknown->emplace_back(name);
    return;
  }
  MnemonicFacts& facts = (*filling.table)[mnemonic];
  if (filling.row == nullptr) {
    facts.is_privileged = true;
    return;
  }
  if (facts.is_listed && filling.unknown != nullptr)
    filling.unknown->push_back(std::string(name) + " (twice)");
  facts = {.insn_class = filling.row->insn_class, .op = filling.row->op, .is_listed = true};
  read_floating_point(name, facts);
}

void enter_names(std::string_view names, Filling filling) {
  while (!names.empty()) {
    const std::size_t end = names.find(' ');
    if (end != 0) expand_names(names.substr(0, end), enter_name, &filling);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 1);
  }
}

Table build_table(std::vector<std::string>* unknown = nullptr) {
  Table table{};
  for (const Row& row : kRows) enter_names(row.names, {&table, &row, unknown});
  enter_names(kPrivileged, {&table, nullptr, unknown});
  return table;
}

const Table& table() {
  static const Table built = build_table();
  return built;
}

// No mnemonic is longer than this; a longer name is cut and then found nowhere.
struct Name {
  char text[32];
  std::size_t size = 0;

  void append(std::string_view piece) {
    const std::size_t room = sizeof text - size;
    const std::size_t taken = piece.size() < room ? piece.size() : room;
    std::memcpy(text + size, piece.data(), taken);
    size += taken;
  }
};

void expand(Name name, std::string_view rest, void (*use)(std::string_view, void*), void* context) {
  const std::size_t open = rest.find_first_of("{(");
  name.append(rest.substr(0, open));
  if (open == std::string_view::npos) return use({name.text, name.size}, context);
  const bool may_be_absent = rest[open] == '(';
  const std::size_t close = rest.find(may_be_absent ? ')' : '}', open);
  std::string_view choices = rest.substr(open + 1, close - open - 1);
  rest.remove_prefix(close + 1);
  if (may_be_absent) expand(name, rest, use, context);
  for (;;) {
    const std::size_t comma = choices.find(',');
    Name longer = name;
    longer.append(choices.substr(0, comma));
    expand(longer, rest, use, context);
    if (comma == std::string_view::npos) return;
    choices.remove_prefix(comma + 1);
  }
}

}  // namespace

const MnemonicFacts& facts_of(ZydisMnemonic mnemonic) {
  static const MnemonicFacts none;
  const auto index = static_cast<std::size_t>(mnemonic);
  return index < kMnemonics ? table()[index] : none;
}

std::vector<std::string> unknown_names() {
  std::vector<std::string> unknown;
  build_table(&unknown);
  return unknown;
}

void expand_names(std::string_view pattern, void (*use)(std::string_view name, void* context),
                  void* context) {
  expand({}, pattern, use, context);
}

}  // namespace loft::engine
