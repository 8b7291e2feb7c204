#include "sample/locations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "symbols/unwind_table.hpp"

namespace loft::sample {

// What the tables say of an address, before it becomes a number.
struct Locations::Found {
  std::string name;
  std::uint64_t address = 0;
  bool is_named = false;
  std::string file;
  std::uint32_t line = 0;
  std::vector<std::string> inlined;  // outermost first
};

Locations::Locations(const TaskHistory& history, symbols::SymbolStore& store, Options options)
    : history_(history), store_(store), options_(options), tables_(history.binaries().size()) {
  intern_file("");
  for (const char* name : {"[not mapped]", "[kernel]", "[guest]", "[hypervisor]", "[no address]"}) {
    plain_location(intern_function(Function::kNoBinary, 0, name, false));
  }
}

std::uint32_t Locations::intern_file(std::string_view path) {
  const auto [entry, is_new] =
      file_index_.emplace(std::string(path), static_cast<std::uint32_t>(files_.size()));
  if (is_new) files_.emplace_back(path);
  return entry->second;
}

// Two functions of one name in one binary (static ones of two files) differ by their address.
std::uint32_t Locations::intern_function(std::uint32_t binary, std::uint64_t address,
                                         std::string_view name, bool is_named) {
  const auto known = function_index_.find({binary, address, name});
  if (known != function_index_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(functions_.size());
  functions_.push_back({std::string(name), binary, address, is_named});
  function_index_.emplace(FunctionKey{binary, address, functions_.back().name}, id);
  return id;
}

std::uint32_t Locations::plain_location(std::uint32_t function) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  if (function >= plain_locations_.size()) plain_locations_.resize(function + 256, kNone);
  if (plain_locations_[function] == kNone) {
    plain_locations_[function] = static_cast<std::uint32_t>(locations_.size());
    locations_.push_back({function, 0, 0, 0, 0});
  }
  return plain_locations_[function];
}

std::shared_ptr<const symbols::SymbolTable> Locations::shared_table_of(std::uint32_t binary) {
  {
    const std::lock_guard lock(mutex_);
    if (tables_[binary] != nullptr) return tables_[binary];
  }
  // Reading a binary can take long; the store sees to it that each is read once.
  const MappedBinary& known = history_.binaries()[binary];
  auto table = known.jit_pid != 0
                   ? store_.open_jit(static_cast<pid_t>(known.jit_pid), known.jit_dump, known.path)
                   : store_.open({known.mapped_as.empty() ? known.path : known.mapped_as,
                                  known.build_id, known.is_kernel, known.kernel_text});
  const std::lock_guard lock(mutex_);
  if (tables_[binary] == nullptr) tables_[binary] = std::move(table);
  return tables_[binary];
}

const symbols::SymbolTable& Locations::table_of(std::uint32_t binary) {
  return *shared_table_of(binary);  // tables_ keeps it
}

Locations::Found Locations::look_up(const Mapping& mapping, std::uint64_t ip) {
  Found found;
  const MappedBinary& binary = history_.binaries()[mapping.binary];
  if (!binary.only_symbol.empty()) {
    found.name = binary.only_symbol;
    found.address = mapping.start;
    found.is_named = true;
    return found;
  }
  const symbols::SymbolTable& table = table_of(mapping.binary);
  const std::uint64_t address = table.address_of(ip, mapping.start, mapping.file_offset);
  if (const auto* symbol = table.find(address)) {
    found.name = symbol->name;
    found.address = symbol->start;
    found.is_named = true;
  } else if (binary.jit_pid != 0) {
    found.name = symbols::kNamelessCode;
  } else {
    // Of stripped files the tables for unwinding tell where a function starts.
    const symbols::UnwindTable* unwind = table.unwind_table();
    const auto around = unwind != nullptr ? unwind->function_around(address) : std::nullopt;
    found.address = around ? around->start : address;
    found.name = table.describe(found.address);
  }
  if (options_.lines) {
    if (const auto line = table.line(address)) {
      found.file = line->file;
      found.line = line->line;
    }
  }
  if (options_.inlines)
    for (const auto& frame : table.inlined(address)) found.inlined.emplace_back(frame.function);
  return found;
}

std::uint32_t Locations::locate(const Mapping& mapping, std::uint64_t ip) {
  const Found found = look_up(mapping, ip);
  const std::lock_guard lock(mutex_);
  Location location;
  location.function = intern_function(mapping.binary, found.address, found.name, found.is_named);
  if (found.line == 0 && found.inlined.empty()) return plain_location(location.function);
  location.file = intern_file(found.file);
  location.line = found.line;
  std::string key = fmt::format("{}:{}:{}", location.function, location.file, location.line);
  std::vector<std::uint32_t> inlined;
  for (const auto& name : found.inlined) {
    inlined.push_back(intern_function(mapping.binary, 0, name, true));
    key += fmt::format(":{}", inlined.back());
  }
  const auto [entry, is_new] =
      location_index_.emplace(std::move(key), static_cast<std::uint32_t>(locations_.size()));
  if (!is_new) return entry->second;
  location.inlined = static_cast<std::uint32_t>(inlined_.size());
  location.inlined_count = static_cast<std::uint32_t>(inlined.size());
  inlined_.insert(inlined_.end(), inlined.begin(), inlined.end());
  locations_.push_back(location);
  return entry->second;
}

Location Locations::at(std::uint32_t location) const {
  const std::lock_guard lock(mutex_);
  return locations_[location];
}

const Function& Locations::function_of(std::uint32_t location) const {
  const std::lock_guard lock(mutex_);
  return functions_[locations_[location].function];  // a deque: it stays where it is
}

const std::string& Locations::name_of(std::uint32_t function) const {
  const std::lock_guard lock(mutex_);
  return functions_[function].name;
}

std::uint32_t Locations::binary_of(const Location& location) const {
  const std::lock_guard lock(mutex_);
  return functions_[location.function].binary;
}

std::uint32_t Locations::inlined_function(const Location& location, std::uint32_t index) const {
  const std::lock_guard lock(mutex_);
  return inlined_[location.inlined + index];
}

std::string Locations::source_file(std::uint32_t id) {
  const Function& function = functions_[id];
  if (!function.is_named || function.binary == Function::kNoBinary) return {};
  if (!history_.binaries()[function.binary].only_symbol.empty()) return {};
  const auto line = table_of(function.binary).line(function.address);
  return line ? std::string(line->file) : std::string();
}

FrameResolver::Known& FrameResolver::known_slot(std::uint64_t offset, std::uint32_t binary) {
  const std::uint64_t mixed = (offset ^ std::uint64_t{binary} << 44) * 0x9E3779B97F4A7C15u;
  std::size_t slot = mixed >> 20 & (known_.size() - 1);
  while (known_[slot].binary != kFree &&
         (known_[slot].offset != offset || known_[slot].binary != binary))
    slot = (slot + 1) & (known_.size() - 1);
  return known_[slot];
}

void FrameResolver::grow_known() {
  std::vector<Known> old(known_.size() * 2);
  old.swap(known_);
  for (const Known& entry : old)
    if (entry.binary != kFree) known_slot(entry.offset, entry.binary) = entry;
}

std::uint32_t FrameResolver::keep(TaskHistory::Root space, std::uint64_t ip,
                                  std::uint32_t location) {
  auto& entries = recent_[slot_of(space, ip)].entries;
  const bool was_full = entries.back().space != kFree;
  std::copy_backward(entries.begin(), entries.end() - 1, entries.end());
  entries.front() = {ip, space, location};
  if (was_full && ++pushed_out_ > recent_.size() && 64 - shift_ < kMostBits) grow_recent();
  return location;
}

void FrameResolver::grow_recent() {
  std::vector<Bucket> old(recent_.size() * 4);
  old.swap(recent_);
  shift_ -= 2;
  pushed_out_ = 0;
  for (const Bucket& bucket : old) {
    for (const Recent& entry : bucket.entries) {
      if (entry.space == kFree) continue;
      auto& entries = recent_[slot_of(entry.space, entry.ip)].entries;
      std::copy_backward(entries.begin(), entries.end() - 1, entries.end());
      entries.front() = entry;
    }
  }
}

std::uint32_t FrameResolver::look_up(TaskHistory::Root space, std::uint64_t ip,
                                     std::uint32_t otherwise) {
  const Mapping* mapping = history_.find(space, ip);
  if (mapping == nullptr) return ip == 0 ? Locations::kNoAddress : otherwise;
  // Code that two processes have mapped at two places is one key: its offset in the file counts.
  const MappedBinary& binary = history_.binaries()[mapping->binary];
  const bool is_file = !binary.is_kernel && binary.jit_pid == 0;
  const std::uint64_t offset = is_file ? ip - mapping->start + mapping->file_offset : ip;
  Known& known = known_slot(offset, mapping->binary);
  if (known.binary != kFree) return known.location;
  known = {offset, mapping->binary, locations_.locate(*mapping, ip)};
  const std::uint32_t location = known.location;
  if (++known_count_ * 2 > known_.size()) grow_known();
  return location;
}

}  // namespace loft::sample
