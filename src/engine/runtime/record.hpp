// The engine's side of the shared memory: blocks, images, mappings and slots as they come to be.
#pragma once

#include <cstdint>

#include "engine/layout.hpp"
#include "engine/runtime/context.hpp"

namespace loft::engine::runtime {

// Maps the tables of the run's memory (descriptors.hpp) and starts an image in them.
void open_record(const char* program);

// Null before open_record().
SharedHeader* shared_header();

// A number for a block of the program; its bytes are kept with it. `mapping` is what record_mapping
// gave for the place where it stands.
std::uint32_t record_block(std::uint64_t address, std::uint32_t mapping, const std::uint8_t* bytes,
                           std::uint32_t size, std::uint32_t instructions, BlockKind kind);
// A number for a sum that one instruction of a block adds to at run time.
std::uint32_t record_units(std::uint32_t block, std::uint32_t instruction, std::uint32_t unit);
// A number for times that the branch at the end of `block` fell into a block that was then left.
std::uint32_t record_extra_fall(std::uint32_t block);
// A number for the first instructions of a block, which was left in its middle.
std::uint32_t record_head(std::uint32_t block, std::uint32_t instructions, std::uint32_t size);
// Says which block is counted when the conditional branch at the end of `block` falls through.
void record_fall(std::uint32_t block, std::uint32_t fall);
// A number for times that the branch at the end of `block` was taken. What falls through from there
// is recorded for this number.
std::uint32_t record_taken(std::uint32_t block);
const BlockEntry& recorded_block(std::uint32_t block);
const std::uint8_t* recorded_code(const BlockEntry& block);
// Whether a process of that number runs, or ran, under the engine in this run.
bool is_recorded_process(std::uint32_t process);

SlotEntry& slot_of(const Context* context);
// Of any thread of the run; its `thread` is 0 while it is being set up.
const SlotEntry& recorded_slot(std::uint32_t slot);

// A number for a mapping of code. What is met again unchanged keeps its number.
std::uint32_t record_mapping(std::uint64_t start, std::uint64_t end, std::uint64_t file_offset,
                             const char* path);

// A number, from 1 on, for a marked region inside of another (0: of none); 0 when there are too
// many.
std::uint32_t record_path(std::uint32_t parent, const char* name, std::uint32_t length);
const char* recorded_path(std::uint32_t path);

// Whether a mapping is of the program that runs now, in this process or the one it was forked from.
bool is_own_mapping(std::uint32_t mapping);
bool is_own_image(std::uint32_t image);

// Whether only a region is counted.
bool has_region();

// Gives the context counters of its own, at the place where its code looks for them. In a child
// process of fork this replaces the parent's.
void open_counters(Context* context);
void name_slot(Context* context, const char* name);
void close_slot(Context* context);

}  // namespace loft::engine::runtime
