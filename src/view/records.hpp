// Records in full, one after the other: as lines for people, or one JSON object per line.
//
//   RecordLines lines;
//   describer.describe(placed, lines);
//   print(lines.written());
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text_buffer.hpp"
#include "sample/fields.hpp"

namespace loft::view {

class RecordView : public sample::RecordWriter {
 public:
  bool known_frames(std::uint32_t number) override;
  [[nodiscard]] std::string_view written() const override { return out_.view(); }
  void exchange(TextBuffer& other) override { std::swap(out_, other); }

 protected:
  // To be called at the end of each list.
  void keep_frames();

  TextBuffer out_;

 private:
  static constexpr std::size_t kMostKept = 32u << 20;  // bytes
  struct Kept {
    std::size_t start = 0;
    std::size_t size = 0;
  };
  std::string kept_text_;
  std::vector<Kept> kept_;                   // by number
  std::optional<std::uint32_t> to_be_kept_;  // what has been written since is kept as this
  std::size_t kept_from_ = 0;
};

// Texts about places, put together once and then looked up by the place's number.
class PlaceTexts {
 public:
  template <class Make>
  void append(const sample::FrameText& frame, TextBuffer& out, const Make& make) {
    if (frame.place == sample::FrameText::kNoPlace) {
      std::string text;
      make(text);
      out += text;
      return;
    }
    if (frame.place >= texts_.size()) texts_.resize(frame.place + std::size_t{256});
    std::string& text = texts_[frame.place];
    if (text.empty()) make(text);
    out += text;
  }

 private:
  std::vector<std::string> texts_;
};

// "#17 12.345678901 SAMPLE cycles app 12/13 cpu 2 period=1 ..." and one line per frame.
class RecordLines final : public RecordView {
 public:
  void begin(const sample::RecordHead& head) override;
  void number(std::string_view name, std::uint64_t value) override;
  void signed_number(std::string_view name, std::int64_t value) override;
  void real(std::string_view name, double value) override;
  void address(std::string_view name, std::uint64_t value) override;
  void text(std::string_view name, std::string_view value) override;
  void flag(std::string_view name) override;
  void bytes(std::string_view name, std::span<const std::byte> value) override;
  void begin_group(std::string_view name) override;
  void end_group() override;
  void begin_list(std::string_view name) override;
  void end_list() override;
  void frame(const sample::FrameText& frame) override;
  void instruction(const sample::FrameText& frame) override;
  void end() override;

 private:
  void key(std::string_view name);
  int lists_ = 0;
  bool after_open_ = false;
  PlaceTexts frame_texts_;  // what stands behind the address of a frame
  PlaceTexts instruction_texts_;
};

// {"nr":17,"type":"SAMPLE","time":12345678901,...}
class RecordJson final : public RecordView {
 public:
  void begin(const sample::RecordHead& head) override;
  void number(std::string_view name, std::uint64_t value) override;
  void signed_number(std::string_view name, std::int64_t value) override;
  void real(std::string_view name, double value) override;
  void address(std::string_view name, std::uint64_t value) override;
  void text(std::string_view name, std::string_view value) override;
  void flag(std::string_view name) override;
  void bytes(std::string_view name, std::span<const std::byte> value) override;
  void begin_group(std::string_view name) override;
  void end_group() override;
  void begin_list(std::string_view name) override;
  void end_list() override;
  void frame(const sample::FrameText& frame) override;
  void instruction(const sample::FrameText& frame) override;
  void end() override;

 private:
  void key(std::string_view name);
  bool needs_comma_ = false;
  PlaceTexts names_;  // what stands behind the address
};

// readperf's overview.csv: nr, type, pid, tid, time, and what its authors put into info.
class RecordTable final : public RecordView {
 public:
  [[nodiscard]] static std::string header() { return "nr,type,pid,tid,time,info\n"; }

  void begin(const sample::RecordHead& head) override;
  void number(std::string_view name, std::uint64_t value) override;
  void signed_number(std::string_view name, std::int64_t value) override;
  void real(std::string_view name, double value) override;
  void address(std::string_view name, std::uint64_t value) override;
  void text(std::string_view name, std::string_view value) override;
  void flag(std::string_view name) override;
  void bytes(std::string_view, std::span<const std::byte>) override {}
  void begin_group(std::string_view) override { ++depth_; }
  void end_group() override { --depth_; }
  void begin_list(std::string_view) override { ++depth_; }
  void end_list() override { --depth_; }
  void frame(const sample::FrameText&) override {}
  void end() override;

 private:
  void add(std::string_view name, std::string_view value);

  sample::RecordHead head_;
  std::string info_;
  int depth_ = 0;
};

}  // namespace loft::view
