// A libcuda.so.1 that says what the environment tells it to: FAKE_CUDA is its version ("12080"),
// FAKE_CUDA_INIT what cuInit returns, FAKE_CUDA_DEVICES "NAME:MAJOR.MINOR,...".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string of_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> devices() {
  std::istringstream all(of_environment("FAKE_CUDA_DEVICES"));
  std::vector<std::string> found;
  for (std::string one; std::getline(all, one, ',');) found.push_back(one);
  return found;
}

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = std::atoi(of_environment("FAKE_CUDA").c_str());
  return 0;
}

int cuInit(unsigned) { return std::atoi(of_environment("FAKE_CUDA_INIT").c_str()); }

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(devices().size());
  return 0;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}

int cuDeviceGetName(char* name, int length, int device) {
  const std::string all = devices()[static_cast<std::size_t>(device)];
  std::snprintf(name, static_cast<std::size_t>(length), "%s", all.substr(0, all.find(':')).c_str());
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  const std::string all = devices()[static_cast<std::size_t>(device)];
  const std::string capability = all.substr(all.find(':') + 1);
  const std::size_t point = capability.find('.');
  *value = std::atoi((attribute == 75 ? capability : capability.substr(point + 1)).c_str());
  return 0;
}

}  // extern "C"
