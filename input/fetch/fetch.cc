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
  return {Errc::malformed,
          fmt::format("{} from {} has SHA-256 {}, but MNIST's is {}; it was deleted: try again, or "
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

}  // namespace

std::vector<RemoteFile> mnist_files() {
  return {
      {"train-images-idx3-ubyte.gz", 9'912'422,
       "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
      {"train-labels-idx1-ubyte.gz", 28'881,
       "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
      {"t10k-images-idx3-ubyte.gz", 1'648'877,
       "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
      {"t10k-labels-idx1-ubyte.gz", 4'542,
       "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"},
  };
}

std::vector<std::string> mnist_mirrors() {
  return {"https://ossci-datasets.s3.amazonaws.com/mnist/",
          "https://storage.googleapis.com/cvdf-datasets/mnist/"};
}

Result<void> fetch_files(const FetchOptions& options) {
  if (sodium_init() < 0) return Error{Errc::unavailable, "libsodium cannot start"};
  STERNA_TRY(make_directory(options.dir));
  for (const RemoteFile& file : options.files) STERNA_TRY(fetch_one(file, options));
  return {};
}

Result<void> fetch_mnist(const FetchOptions& options) {
  std::error_code ignored;
  if (fs::exists(options.dir / kDrawnMarker, ignored)) {
    return Error{Errc::already_exists,
                 fmt::format("{} holds drawn digits; choose another directory for MNIST",
                             options.dir.string())};
  }
  return fetch_files(options);
}

}  // namespace sterna::input
