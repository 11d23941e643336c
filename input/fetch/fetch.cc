#include "input/fetch/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "input/digits/digits.h"
#include "input/fetch/download.h"
#include "input/fetch/unpack.h"
#include "input/files/byte_source.h"
#include "input/files/sha256.h"
#include "runtime/base/file.h"

namespace sterna::input {

namespace fs = std::filesystem;

namespace {

/// The SHA-256 of the file's bytes as they are (a .gz stays packed), in hexadecimal.
Result<std::string> sha256_of(const fs::path& path) {
  STERNA_ASSIGN(ByteSource source, ByteSource::open_raw(path));
  Sha256 sum;
  std::vector<std::uint8_t> window(std::size_t{64} * 1024);
  std::size_t got = 0;
  do {
    STERNA_ASSIGN(got, source.read(window));
    sum.update(std::as_bytes(std::span(window).first(got)));
  } while (got == window.size());
  return sum.hex();
}

/// What one mirror had to say about one file.
struct Visit {
  bool fetched = false;
  std::string why;             ///< the mirror's failure: the next may do better
  std::optional<Error> fatal;  ///< ends the call
};

Error wrong_sum(const RemoteFile& file, const std::string& mirror, const std::string& sum) {
  return {
      Errc::malformed,
      fmt::format(
          "{} from {} has SHA-256 {}, but the published one is {}; it was deleted: try again, or "
          "another mirror with --mirror URL",
          file.name, mirror, sum, file.sha256)};
}

/// Up to `attempts` interrupted requests to one mirror, each going on where the last one stopped.
Visit visit(const std::string& mirror, const RemoteFile& file, const FetchOptions& options) {
  DownloadOptions request;
  request.url = mirror + (mirror.ends_with('/') ? "" : "/") + file.name;
  request.part = options.dir / (file.name + ".part");
  request.bytes = file.bytes;
  request.connect_timeout = options.connect_timeout;
  request.stall_timeout = options.stall_timeout;
  if (options.progress) {
    request.progress = [&](std::uint64_t done) { options.progress(file.name, done, file.bytes); };
  }
  Visit result;
  int interruptions = 0;
  while (interruptions < options.attempts) {
    DownloadResult got = download(request);
    result.why = std::move(got.why);
    switch (got.end) {
      case DownloadEnd::local:
        result.fatal = Error{Errc::io, fmt::format("{}: {}", file.name, result.why)};
        return result;
      case DownloadEnd::not_there:
        return result;
      case DownloadEnd::interrupted:
        ++interruptions;
        continue;
      case DownloadEnd::wrong_answer:
        // Emptied; if only its old beginning was wrong, a request from the start will do.
        if (got.from_start) return result;
        continue;
      case DownloadEnd::complete:
        break;
    }
    // `got` holds the part until it has its name: another call would empty it while it is summed.
    const Result<std::string> sum = sha256_of(request.part);
    Result<void> placed = !sum ? Result<void>(sum.error())
                          : *sum == file.sha256
                              ? rename_into_place(request.part, options.dir / file.name)
                              : wrong_sum(file, mirror, *sum);
    if (placed) {
      result.fetched = true;
      return result;
    }
    std::error_code ignored;
    fs::remove(request.part, ignored);
    if (got.from_start || !sum || *sum == file.sha256) {
      result.fatal = placed.error();
      return result;
    }
    // The beginning may be another server's, or another day's: once more, from the first byte.
  }
  return result;
}

Result<void> fetch_one(const RemoteFile& file, const FetchOptions& options) {
  const fs::path path = options.dir / file.name;
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    STERNA_ASSIGN(const std::string sum, sha256_of(path));
    if (sum == file.sha256) {
      if (options.progress) options.progress(file.name, file.bytes, file.bytes);
      return {};
    }
  }
  std::string answers;
  for (const std::string& mirror : options.mirrors) {
    Visit result = visit(mirror, file, options);
    if (result.fetched) return {};
    if (result.fatal) return *std::move(result.fatal);
    answers += fmt::format("{}{}: {}", answers.empty() ? "" : "; ", mirror, result.why);
  }
  return Error{
      Errc::unavailable,
      fmt::format("cannot fetch {}: {}; run the command again to go on where it stopped, or "
                  "give another mirror with --mirror URL",
                  file.name, answers.empty() ? "no mirror given" : answers)};
}

/// Says in an unpacked set's folder which archives it came from, a line each; they are gone.
constexpr const char* kUnpackedNote = "FETCHED.txt";

std::string note_of(const RemoteSet& set) {
  std::string note;
  for (const RemoteFile& file : set.files) note += fmt::format("{}  {}\n", file.sha256, file.name);
  return note;
}

Result<void> unpack_all(const RemoteSet& set, const fs::path& dir) {
  for (const RemoteFile& file : set.files) STERNA_TRY(unpack_archive(dir / file.name, dir));
  STERNA_TRY(write_atomically(dir / kUnpackedNote, note_of(set)));
  std::error_code ignored;
  for (const RemoteFile& file : set.files) fs::remove(dir / file.name, ignored);
  return {};
}

bool is_unpacked(const RemoteSet& set, const fs::path& dir) {
  const Result<std::string> note = read_file(dir / kUnpackedNote);
  return note && *note == note_of(set);
}

}  // namespace

std::vector<RemoteSet> remote_sets() {
  return {
      {.name = "mnist",
       .title = "MNIST",
       .files = {{"train-images-idx3-ubyte.gz", 9'912'422,
                  "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
                 {"train-labels-idx1-ubyte.gz", 28'881,
                  "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
                 {"t10k-images-idx3-ubyte.gz", 1'648'877,
                  "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
                 {"t10k-labels-idx1-ubyte.gz", 4'542,
                  "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}},
       .mirrors = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                   "https://storage.googleapis.com/cvdf-datasets/mnist/"}},
      {.name = "fashion-mnist",
       .title = "Fashion-MNIST",
       .files = {{"train-images-idx3-ubyte.gz", 26'421'880,
                  "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
                 {"train-labels-idx1-ubyte.gz", 29'515,
                  "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
                 {"t10k-images-idx3-ubyte.gz", 4'422'102,
                  "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
                 {"t10k-labels-idx1-ubyte.gz", 5'148,
                  "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}},
       .mirrors = {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                   "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/"
                   "fashion/"},
       .next = "name the folder with --data to train on it"},
      {.name = "cifar10",
       .title = "CIFAR-10",
       .files = {{"cifar-10-binary.tar.gz", 170'052'171,
                  "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}},
       .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
       .packed = true},
      {.name = "cifar100",
       .title = "CIFAR-100",
       .files = {{"cifar-100-binary.tar.gz", 168'513'733,
                  "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"}},
       .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
       .packed = true},
      {.name = "flowers",
       .title = "TensorFlow's photos of flowers",
       .files = {{"flower_photos.tgz", 228'813'984,
                  "4c54ace7911aaffe13a365c34f650e71dd5bf1be0a58b464e5a7183e3e595d9c"}},
       .mirrors = {"https://storage.googleapis.com/download.tensorflow.org/example_images/",
                   "http://download.tensorflow.org/example_images/"},
       .packed = true,
       .next = "`sterna data build` makes TFRecord files of it"},
  };
}

Result<void> fetch_set(const RemoteSet& set, const FetchOptions& options) {
  if (sodium_init() < 0) return Error{Errc::unavailable, "libsodium cannot start"};
  std::error_code ignored;
  if (fs::exists(options.dir / kDrawnMarker, ignored)) {
    return Error{Errc::already_exists,
                 fmt::format("{} holds drawn digits; choose another directory for {}",
                             options.dir.string(), set.title)};
  }
  STERNA_TRY(make_directory(options.dir));
  if (set.packed && is_unpacked(set, options.dir)) return {};
  FetchOptions from = options;
  if (from.mirrors.empty()) from.mirrors = set.mirrors;
  for (const RemoteFile& file : set.files) STERNA_TRY(fetch_one(file, from));
  if (set.packed) return unpack_all(set, options.dir);
  return {};
}

}  // namespace sterna::input
