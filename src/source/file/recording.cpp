// Opening: from a path to regions of records.
#include "source/file/recording.hpp"

#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.hpp"
#include "base/text.hpp"
#include "format/perf/decompress.hpp"
#include "format/perf/features.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/spool.hpp"

namespace loft::source {
namespace {

namespace perf = format::perf;

constexpr std::size_t kKallsymsLimit = 256u << 20;
// perf packs stacks that are mostly zeros, and no file justifies more than this.
constexpr std::uint64_t kMostExpansion = 512;
constexpr std::uint64_t kExpansionFloor = 64u << 20;

// A stream may never end: what does not begin like a recording is not read any further, so that
// what comes out is enough to say what it is instead.
Result<Mapping> map_stream(const Fd& fd) {
  LOFT_TRY(Spool spool, Spool::create());
  std::vector<std::byte> start;
  while (start.size() < perf::kMagicSize) {
    LOFT_TRY(const auto bytes, spool.append_some(fd));
    if (bytes.empty()) break;
    start.insert(start.end(), bytes.begin(), bytes.end());
  }
  if (perf::has_magic(start)) LOFT_CHECK(spool.append_all(fd));
  return spool.finish();
}

// perf refuses such files; what is in them is somebody else's word.
std::string note_of_owner(const std::string& path) {
  struct stat status {};
  if (path == "-" || ::stat(path.c_str(), &status) != 0) return {};
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return {};
  const passwd* owner = ::getpwuid(status.st_uid);
  return "it belongs to " +
         (owner != nullptr ? "the user " + printable(owner->pw_name)
                           : "user " + std::to_string(status.st_uid)) +
         ": read it only if you trust them";
}

constexpr const char* kHowToGetOne =
    "name a recording, or make one with 'loft record' or 'perf record'";

// A recording is its maker's alone unless they say otherwise.
Failure failure_to_open(int number, const std::string& path) {
  return failure_of_errno(number, "open '" + path + "'",
                          number == EACCES ? "read it as the user who recorded it, most often "
                                             "root, or let them 'chmod +r' it"
                                           : kHowToGetOne);
}

// What failed, told of the file by its name.
Failure failure_to_read(Error error, const std::string& path) {
  error.what = path == "-" ? "read the recording on standard input" : "read '" + path + "'";
  constexpr std::string_view kPlaceholder = "FILE";
  if (const auto at = error.hint.find(kPlaceholder); at != std::string::npos)
    error.hint.replace(at, kPlaceholder.size(), path == "-" ? "FILE" : path);
  return Failure(std::move(error));
}

Result<Mapping> map_file(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return failure_to_open(errno, path);
  return Mapping::of_file(path);
}

Result<Mapping> map_any(const std::string& path) {
  if (path == "-") {
    const Fd copy(::dup(STDIN_FILENO));
    return map_stream(copy);
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failure_to_open(errno, path);
  if (S_ISREG(status.st_mode)) return map_file(path);
  LOFT_TRY(const Fd fd, open_input(path));
  return map_stream(fd);
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_packed(const RawRecord& record) {
  return record.type == RecordType::compressed || record.type == RecordType::compressed2;
}

// Writes whole records and keeps the start of one that goes on in the next packed record.
class RecordJoiner {
 public:
  RecordJoiner(Spool& spool, ByteOrder order) : spool_(spool), order_(order) {}

  Result<void> add(std::span<const std::byte> bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    std::size_t whole = 0;
    while (pending_.size() - whole >= perf::kRecordHeader) {
      const std::size_t size = load<std::uint16_t>(pending_.data() + whole + 6, order_);
      if (size < perf::kRecordHeader)
        return failure(ErrorKind::malformed, "unpack a record", "a size in it cannot be");
      if (size > pending_.size() - whole) break;
      whole += size;
    }
    LOFT_CHECK(spool_.append(std::span(pending_).first(whole)));
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(whole));
    return {};
  }

  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  void drop() { pending_.clear(); }

 private:
  Spool& spool_;
  ByteOrder order_;
  std::vector<std::byte> pending_;
};

}  // namespace

void Region::release(std::uint64_t from, std::uint64_t to) const {
  static const std::uintptr_t page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  if (!is_mapped || from >= to) return;
  const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
  // The pages at both ends are the file's own; what lies beyond them is somebody else's.
  const std::uintptr_t lowest = start & ~(page - 1);
  const std::uintptr_t highest = (start + bytes.size() + page - 1) & ~(page - 1);
  const std::uintptr_t first = std::max(lowest, (start + from) & ~(kAround - 1));
  const std::uintptr_t end = std::min(highest, (start + to) & ~(kAround - 1));
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

Result<std::unique_ptr<Recording>> Recording::open(const std::string& path, Progress* progress,
                                                   const WalkOptions& walk) {
  auto recording = std::unique_ptr<Recording>(new Recording);
  recording->summary_.path = path;
  if (is_directory(path)) {
    LOFT_CHECK(recording->load_directory(path));
  } else {
    LOFT_TRY(auto mapping, map_any(path));
    recording->mappings_.push_back(std::move(mapping));
    const auto loaded = recording->load(recording->mappings_.back().bytes());
    if (!loaded) return failure_to_read(loaded.error(), path);
    for (Region& region : recording->regions_) region.is_mapped = true;
  }
  if (std::string note = note_of_owner(path); !note.empty())
    recording->summary_.notes.insert(recording->summary_.notes.begin(), std::move(note));
  LOFT_CHECK(recording->survey_all(walk, progress));
  LOFT_CHECK(recording->check_unchanged());
  return recording;
}

Result<void> Recording::check_unchanged() const {
  for (const Mapping& mapping : mappings_)
    if (mapping.has_changed()) return file_changed(summary_.path);
  return {};
}

Result<std::unique_ptr<Recording>> Recording::of_bytes(std::span<const std::byte> bytes,
                                                       const WalkOptions& walk) {
  auto recording = std::unique_ptr<Recording>(new Recording);
  LOFT_CHECK(recording->load(bytes));
  LOFT_CHECK(recording->survey_all(walk, nullptr));
  return recording;
}

Result<void> Recording::load(std::span<const std::byte> file) {
  LOFT_TRY(auto header, perf::read_header(file));
  summary_.bytes += file.size();
  summary_.notes = std::move(header.notes);
  summary_.metadata.is_big_endian = header.order == ByteOrder::big;
  summary_.metadata.is_pipe = header.is_pipe;
  summary_.metadata.events = std::move(header.events);
  read_features(file, header);
  const auto add_region = [&](const perf::Section& where) {
    regions_.push_back({file.subspan(where.offset, where.size), header.order, where.offset});
  };
  add_region(header.data);
  // simpleperf can put the mappings that were there from the start into a section of their own.
  for (const auto& feature : header.features)
    if (feature.bit == static_cast<std::uint32_t>(perf::Feature::simpleperf_first_maps))
      add_region(feature.where);
  return {};
}

// perf puts the header into "data" and the records of each thread into "data.N".
Result<void> Recording::load_directory(const std::string& path) {
  LOFT_TRY(const auto names, list_directory(path));
  const std::string header = join_path(path, "data");
  if (!file_exists(header))
    return failure(
        ErrorKind::not_found, "read '" + path + "'",
        "it is a folder, and has no file 'data' as those of 'perf record --threads' have",
        kHowToGetOne);
  LOFT_TRY(auto main, map_file(header));
  mappings_.push_back(std::move(main));
  if (const auto loaded = load(mappings_.back().bytes()); !loaded)
    return failure_to_read(loaded.error(), header);
  for (Region& region : regions_) region.is_mapped = true;
  const ByteOrder order = regions_.front().order;
  for (const std::string& name : names) {
    if (!name.starts_with("data.") || !parse_u64(name.substr(5))) continue;
    auto part = Mapping::of_file(join_path(path, name));
    if (!part) {
      summary_.notes.push_back(to_string(part.error()));
      continue;
    }
    mappings_.push_back(*std::move(part));
    summary_.bytes += mappings_.back().bytes().size();
    regions_.push_back({mappings_.back().bytes(), order, 0, true});
  }
  const std::string symbols = join_path(path, "kcore_dir/kallsyms");
  if (file_exists(symbols)) {
    if (auto text = read_file(symbols, kKallsymsLimit)) kallsyms_ = *std::move(text);
  }
  return {};
}

void Recording::read_features(std::span<const std::byte> file, const perf::FileHeader& header) {
  for (const auto& feature : header.features) {
    const auto bytes = file.subspan(feature.where.offset, feature.where.size);
    if (feature.bit == static_cast<std::uint32_t>(perf::Feature::tracing_data)) {
      tracing_ = perf::read_tracing_data(bytes);
      if (!tracing_.note.empty()) summary_.notes.push_back(tracing_.note);
    } else if (!perf::read_feature(feature.bit, bytes, header.order, summary_.metadata)) {
      summary_.notes.push_back("header feature " + std::string(perf::name_of_feature(feature.bit)) +
                               " is damaged");
    }
  }
  if (const auto turns = parse_u64(loft_fact(summary_.metadata, event::recording::fact::kTurns));
      turns && *turns > 0)
    summary_.notes.push_back(std::to_string(*turns) +
                             " sets of events took turns: the periods of their events are those of "
                             "the turns alone; --tasks shows estimates of the whole");
}

// All records of a region with the packed ones replaced by what is in them.
Result<Mapping> Recording::unpack(const Region& region) {
  LOFT_TRY(Spool spool, Spool::create());
  perf::Decompressor stream;
  RecordJoiner joiner(spool, region.order);
  const std::uint64_t most = kExpansionFloor + kMostExpansion * region.bytes.size();
  perf::RecordWalker walker(region.bytes, region.order);
  RawRecord record;
  std::uint64_t failed = 0;
  while (walker.next(record)) {
    const auto end = walker.damages().empty() ? walker.position() : 0;
    if (!is_packed(record)) {
      const auto size = perf::kRecordHeader + record.body.size() + record.payload.size();
      LOFT_CHECK(spool.append(region.bytes.subspan(record.offset, size)));
      if (record.type == RecordType::header_tracing_data && end > record.offset + size)
        LOFT_CHECK(
            spool.append(region.bytes.subspan(record.offset + size, end - record.offset - size)));
      continue;
    }
    ++summary_.records[std::string(perf_data::name_of(record.type))];
    if (spool.size() > most)
      return failure(
          ErrorKind::limit, "unpack the recording",
          "it would grow to more than " + std::to_string(kMostExpansion) + " times its size");
    const auto added = stream.add(record, [&](auto bytes) { return joiner.add(bytes); });
    if (!added && added.error().kind != ErrorKind::malformed) return Failure(added.error());
    if (!added) {
      ++failed;
      joiner.drop();
    }
  }
  if (failed != 0)
    summary_.notes.push_back(std::to_string(failed) + " compressed records could not be unpacked");
  if (joiner.pending() != 0) summary_.notes.push_back("the compressed data ends within a record");
  return spool.finish();
}

}  // namespace loft::source
