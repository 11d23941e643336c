#include "launcher/view/read_result.h"

#include <filesystem>

#include "launcher/view/result_json.h"
#include "runtime/base/file.h"

namespace sterna::launcher {

Result<Json> read_result(const std::string& run_dir) {
  const std::filesystem::path path = std::filesystem::path(run_dir) / "result.json";
  STERNA_ASSIGN(const std::string text, read_file(path, kMostResultBytes));
  Json result = parse_shallow(text);
  if (result.is_object()) return result;
  return Error{Errc::malformed, path.string() + ": is no JSON object"};
}

}  // namespace sterna::launcher
