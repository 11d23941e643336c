// sterna data convert: a data set to TFRecord files or to a folder of pictures.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "input/build/convert.h"
#include "input/place/data_set.h"
#include "input/place/data_source.h"
#include "launcher/commands/data/data_parts.h"
#include "launcher/text/environment.h"
#include "launcher/text/progress_line.h"
#include "launcher/text/text_format.h"

namespace sterna::launcher {
namespace {

constexpr const char* kToRecords = "tfrecord";
constexpr const char* kToFolder = "folder";

struct DataConvertOptions {
  std::string from;
  std::string into;
  std::string to;
};

/// Files of pictures of any size are prepared for nets of large ones, unless a run says otherwise;
/// "" where that suits what they were made of.
std::string how_to_train(const std::string& from) {
  const input::DataSet& set = input::data_set_in(from);
  if (set.shape.rows == 0 || !input::missing_files(*set.format, from).empty()) return "";
  return fmt::format(
      "to train on them as on {} itself set data.preprocess = \"{}\"{}: else they are enlarged\n",
      input::told_name(from, set.name), set.family,
      set.shape.channels == 1 ? " and data.channels = 1" : "");
}

int convert(const DataConvertOptions& options, const Console& console) {
  const SteadyClock clock;
  std::optional<Result<input::Converted>> converted;
  {
    ProgressLine line(clock);
    const input::ConvertOptions how{
        .cache = input::cache_directory(environment).value_or(options.into + ".unpacked"),
        .progress = [&](std::uint64_t done, std::uint64_t total) {
          line.show(
              fmt::format("converting: {} of {} examples", count_text(done), count_text(total)));
        }};
    converted = options.to == kToFolder
                    ? input::convert_to_folder(options.from, options.into, how)
                    : input::convert_to_records(options.from, options.into, how);
  }
  if (!*converted) return console.report(converted->error());
  return console.result(fmt::format("{}: {} examples to train on and {} to validate\n",
                                    options.into, count_text((*converted)->train),
                                    count_text((*converted)->validation)) +
                        how_to_train(options.from));
}

}  // namespace

Command data_convert_command() {
  const auto o = std::make_shared<DataConvertOptions>();
  return {
      .name = "convert",
      .help = "Write a data set in another form",
      .arguments = {{"FROM", &o->from,
                     "MNIST's or CIFAR's files, TFRecord files, or a folder of pictures", "FROM",
                     true},
                    {"--into", &o->into, "The folder to write: a new or an empty one", "OUT", true},
                    {.name = "--to",
                     .into = &o->to,
                     .help = "TFRecord files, or a folder of pictures for each class",
                     .type = "FORM",
                     .required = true,
                     .choices = {kToRecords, kToFolder}}},
      .run = [o](const Context& context) { return convert(*o, context.console); }};
}

}  // namespace sterna::launcher
