// Frames that were written before are copied: most samples were called the way others were.
#include "view/records.hpp"

namespace loft::view {

bool RecordView::known_frames(std::uint32_t number) {
  if (number < kept_.size() && kept_[number].size != 0) {
    out_ += std::string_view(kept_text_).substr(kept_[number].start, kept_[number].size);
    return true;
  }
  to_be_kept_ = number;
  kept_from_ = out_.size();
  return false;
}

void RecordView::keep_frames() {
  if (!to_be_kept_) return;
  const std::uint32_t number = *to_be_kept_;
  to_be_kept_.reset();
  if (kept_text_.size() > kMostKept) {
    kept_text_.clear();
    kept_.clear();
  }
  if (number >= kept_.size()) kept_.resize(number + std::size_t{1024});
  kept_[number] = {kept_text_.size(), out_.size() - kept_from_};
  kept_text_ += out_.view().substr(kept_from_);
}

}  // namespace loft::view
