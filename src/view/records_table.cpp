#include "view/csv.hpp"
#include "view/json_text.hpp"
#include "view/records.hpp"

namespace loft::view {
namespace {

// What belongs into info, by type; other types show all their plain fields.
bool belongs(std::string_view type, std::string_view name) {
  if (type == "MMAP" || type == "MMAP2")
    return name == "path" || name == "start" || name == "length" || name == "file_offset";
  if (type == "COMM") return name == "name";
  if (type == "FORK") return name == "parent_pid";
  if (type == "EXIT") return false;
  if (type == "SAMPLE") return name == "ip" || name == "period";
  return true;
}

std::string decimal(std::optional<std::uint32_t> value) {
  return value ? std::to_string(static_cast<std::int32_t>(*value)) : std::string();
}

}  // namespace

void RecordTable::begin(const sample::RecordHead& head) {
  head_ = head;
  info_.clear();
  depth_ = 0;
}

void RecordTable::add(std::string_view name, std::string_view value) {
  if (depth_ != 0 || !belongs(head_.type, name)) return;
  if (!info_.empty()) info_ += ' ';
  info_ += name;
  info_ += '=';
  info_ += value;
}

void RecordTable::number(std::string_view name, std::uint64_t value) {
  // The task that a record is about comes before who wrote it: the parent writes the fork of its
  // child, and the recorder what was there before.
  if (name == "task_pid" || name == "comm_pid") head_.pid = static_cast<std::uint32_t>(value);
  if (name == "task_tid" || name == "comm_tid" || name == "map_tid")
    head_.tid = static_cast<std::uint32_t>(value);
  add(name, std::to_string(value));
}

void RecordTable::signed_number(std::string_view name, std::int64_t value) {
  if (name == "map_pid") head_.pid = static_cast<std::uint32_t>(value);
  add(name, std::to_string(value));
}

void RecordTable::real(std::string_view name, double value) { add(name, fmt::format("{}", value)); }

void RecordTable::address(std::string_view name, std::uint64_t value) {
  add(name, fmt::format("{:#x}", value));
}

void RecordTable::text(std::string_view name, std::string_view value) { add(name, value); }

void RecordTable::flag(std::string_view name) { add(name, "1"); }

void RecordTable::end() {
  append_number(out_, head_.number);
  out_ += ',';
  out_ += head_.type.empty() ? fmt::format("type {}", head_.type_number) : std::string(head_.type);
  out_ += ',' + decimal(head_.pid) + ',' + decimal(head_.tid) + ',';
  if (head_.time) append_number(out_, *head_.time);
  out_ += ',' + csv_field(info_) + '\n';
}

}  // namespace loft::view
