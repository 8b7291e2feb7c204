// What Android's simpleperf adds to a perf.data: the functions of the phone's binaries, facts about
// the phone, and records that are too long for one and come in pieces.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/perf/record.hpp"
#include "loft/perf_data/metadata.hpp"

namespace loft::format::perf {

// Both forms of the section of binaries; `in` fails when it is damaged, what was good is kept.
void read_simpleperf_files(ByteReader& in, std::vector<perf_data::RecordedBinary>& out);
void read_simpleperf_files2(ByteReader& in, std::vector<perf_data::RecordedBinary>& out);

// Pairs of texts, each with its NUL.
void read_simpleperf_facts(ByteReader& in, std::vector<std::pair<std::string, std::string>>& out);

// Names of events: lines of "cpu-clock,1,0", which are a name, a type and a config.
void name_simpleperf_events(perf_data::Metadata& metadata);

// Older ones tell of binaries and their functions in records.
struct SimpleperfDso {
  std::uint64_t id = 0;
  perf_data::RecordedBinary binary;
};
struct SimpleperfSymbol {
  std::uint64_t dso = 0;
  perf_data::RecordedBinary::Symbol symbol;
};
[[nodiscard]] std::optional<SimpleperfDso> read_simpleperf_dso(const RawRecord& record);
[[nodiscard]] std::optional<SimpleperfSymbol> read_simpleperf_symbol(const RawRecord& record);

// The record whose bytes came in pieces. It is allowed a size that no other record can have.
[[nodiscard]] std::optional<RawRecord> joined_record(std::span<const std::byte> bytes,
                                                     ByteOrder order);

// What a KERNEL_SYMBOL (a kallsyms) or a TRACING_DATA of simpleperf holds, behind its size.
[[nodiscard]] std::span<const std::byte> sized_content(const RawRecord& record);

}  // namespace loft::format::perf
