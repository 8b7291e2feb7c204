// Ahead of everybody else for as long as this lives: the calling thread gets the best nice value
// that it may have. Without the right to it nothing changes.
#pragma once

namespace loft::machine {

class Priority {
 public:
  Priority();
  Priority(const Priority&) = delete;
  Priority& operator=(const Priority&) = delete;
  ~Priority();

 private:
  int before_ = 0;
};

}  // namespace loft::machine
