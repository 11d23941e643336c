#include "launcher/record/read_metrics.h"

#include <fmt/format.h>

#include <fstream>

namespace sterna::launcher {
namespace {

constexpr int kFormat = 1;

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
  std::ifstream in(path);
  if (!in) {
    return Error{Errc::not_found, path + ": there is no such file; name a run's directory"};
  }
  int number_of_line = 0;
  for (std::string line; std::getline(in, line);) {
    ++number_of_line;
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) {
      if (in.peek() == std::ifstream::traits_type::eof()) break;
      return Error{Errc::malformed,
                   fmt::format("{}:{}: is no line of metrics; take it out, the others can be read",
                               path, number_of_line)};
    }
    STERNA_TRY(check_format(json).in(path));
    STERNA_TRY(visit(json).in(path));
  }
  return {};
}

Json kept_tensor(const Json& line) {
  return json_kept(line, {"tensor", "codec"},
                   {"elements", "bits_up", "bits_down", "ratio", "nonzero", "saturated",
                    "encode_seconds", "decode_seconds", "exchange_seconds"});
}

}  // namespace sterna::launcher
