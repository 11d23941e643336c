#include "launcher/record/read_metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "launcher/text/growing_file.h"

namespace sterna::launcher {
namespace {

constexpr int kFormat = 1;
/// Far above ours: of a step with thousands of readers.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

Result<void> check_format(const Json& line) {
  if (json_text_of(line, "kind", "") != "run") return {};
  const double format = json_number_of(line, "format").value_or(0);
  if (format == kFormat) return {};
  return Error{Errc::malformed,
               fmt::format("is of format {}, and this program reads {}: read it with the sterna "
                           "that ran it",
                           format, kFormat)};
}

}  // namespace

Result<void> for_each_metric(const std::string& run,
                             const std::function<Result<void>(const Json& line)>& visit) {
  const std::string path = run + "/metrics.jsonl";
  if (::access(path.c_str(), R_OK) != 0) {
    return Error{Errc::not_found, path + ": there is no such file; name a run's directory"};
  }
  if (std::error_code ignored; !std::filesystem::is_regular_file(path, ignored)) {
    return Error{Errc::malformed, path + ": is no regular file"};
  }
  GrowingFile file(path, GrowingFile::kAll, kLongestLine);
  int number_of_line = 0;
  Result<void> damaged;  // which the last line may be
  const auto take = [&](const std::string& line) -> Result<void> {
    STERNA_TRY(damaged);
    ++number_of_line;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      damaged = Error{Errc::malformed,
                      fmt::format("{}:{}: is no line of metrics; take it out, the others can be "
                                  "read",
                                  path, number_of_line)};
      return {};
    }
    STERNA_TRY(check_format(json).in(path));
    return visit(json).in(path);
  };
  do {
    for (const std::string& line : file.lines()) STERNA_TRY(take(line));
  } while (file.has_more());
  const std::string rest = file.take_rest();
  return rest.empty() ? Result<void>() : take(rest);
}

Json kept_tensor(const Json& line) {
  return json_kept(line, {"tensor", "codec"},
                   {"elements", "bits_up", "bits_down", "ratio", "nonzero", "saturated",
                    "encode_seconds", "decode_seconds", "exchange_seconds"});
}

}  // namespace sterna::launcher
