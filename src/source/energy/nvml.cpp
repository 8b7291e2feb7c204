#include "source/energy/nvml.hpp"

#include <dlfcn.h>

#include <array>

namespace loft::source::energy {

// The few entry points we use, by the names that the library exports. 0 means success.
struct Nvml::Library {
  void* handle = nullptr;
  int (*initialise)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, void**) = nullptr;
  int (*device_name)(void*, char*, unsigned) = nullptr;
  int (*total_energy)(void*, unsigned long long*) = nullptr;
  const char* (*words)(int) = nullptr;
  bool initialised = false;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (initialised) shut_down();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <class Function>
  bool find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
    return function != nullptr;
  }

  Failure refusal(std::string what, int code) const {
    return failure(ErrorKind::unsupported, std::move(what),
                   std::string("NVML says: ") + words(code));
  }
};

Result<Nvml> Nvml::load() {
  auto library = std::make_shared<Library>();
  library->handle = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library->handle == nullptr)
    return failure(ErrorKind::not_found, "ask for GPU energy", "there is no libnvidia-ml.so.1");
  const bool complete =
      library->find("nvmlInit_v2", library->initialise) &&
      library->find("nvmlShutdown", library->shut_down) &&
      library->find("nvmlDeviceGetCount_v2", library->count) &&
      library->find("nvmlDeviceGetHandleByIndex_v2", library->by_index) &&
      library->find("nvmlDeviceGetName", library->device_name) &&
      library->find("nvmlDeviceGetTotalEnergyConsumption", library->total_energy) &&
      library->find("nvmlErrorString", library->words);
  if (!complete)
    return failure(ErrorKind::unsupported, "ask for GPU energy", "libnvidia-ml.so.1 is too old");
  if (const int code = library->initialise(); code != 0)
    return library->refusal("ask for GPU energy", code);
  library->initialised = true;
  Nvml nvml(library);
  if (const int code = library->count(&nvml.devices_); code != 0)
    return library->refusal("count the GPUs", code);
  return nvml;
}

Result<std::string> Nvml::name(unsigned device) const {
  void* handle = nullptr;
  std::array<char, 96> text{};
  int code = library_->by_index(device, &handle);
  if (code == 0) code = library_->device_name(handle, text.data(), text.size());
  if (code != 0) return library_->refusal("name GPU " + std::to_string(device), code);
  return std::string(text.data());
}

Result<double> Nvml::energy(unsigned device) const {
  void* handle = nullptr;
  unsigned long long millijoules = 0;
  int code = library_->by_index(device, &handle);
  if (code == 0) code = library_->total_energy(handle, &millijoules);
  if (code != 0) return library_->refusal("read the energy of GPU " + std::to_string(device), code);
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace loft::source::energy
