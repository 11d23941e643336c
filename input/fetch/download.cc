#include "input/fetch/download.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace sterna::input {

namespace {

constexpr long kStalledBytesPerSecond = 1024;
constexpr long kRedirects = 5;

/// The .part file, open for appending and locked against another download of the same file. It is
/// gone if nothing has come.
class PartFile {
 public:
  explicit PartFile(const std::filesystem::path& path)
      : path_(path),
        descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0) {
      problem_ = fmt::format("cannot open {}: {}", path.string(), std::strerror(errno));
      return;
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      problem_ = fmt::format("another download is writing {}", path.string());
      return;
    }
    struct stat status {};
    struct stat named {};
    if (fstat(descriptor_, &status) != 0) return;
    // Between opening and locking, what was opened may have got its final name.
    if (stat(path.c_str(), &named) != 0 || named.st_ino != status.st_ino ||
        named.st_dev != status.st_dev) {
      problem_ = fmt::format("another download has just ended with {}", path.string());
      return;
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
    known_ = true;
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (known_ && size_ == 0) unlink(path_.c_str());
    if (descriptor_ >= 0) close(descriptor_);
  }

  std::uint64_t size() const { return size_; }
  const std::string& problem() const { return problem_; }

  bool append(const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t written = write(descriptor_, data, size);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed("cannot write the download");
      data += written;
      size -= static_cast<std::size_t>(written);
      size_ += static_cast<std::uint64_t>(written);
    }
    return true;
  }
  bool empty() {
    if (ftruncate(descriptor_, 0) != 0) return failed("cannot empty the download");
    size_ = 0;
    return true;
  }
  bool sync() { return fsync(descriptor_) == 0 || failed("cannot write the download"); }

 private:
  bool failed(const char* what) {
    problem_ = fmt::format("{}: {}", what, std::strerror(errno));
    return false;
  }

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  bool known_ = false;  // that size
  std::string problem_;
};

class Request {
 public:
  Request(const DownloadOptions& options, PartFile& part, CURL* curl)
      : options_(options), part_(part), curl_(curl), from_start_(part.size() == 0) {}

  DownloadResult run() {
    configure();
    const CURLcode code = curl_easy_perform(curl_);
    if (!part_.problem().empty()) return ended(DownloadEnd::local, part_.problem());
    if (too_much_ || code == CURLE_FILESIZE_EXCEEDED) {
      return wrong_answer(
          fmt::format("the server sends more than the {} bytes of the file", options_.bytes));
    }
    if (code == CURLE_OK) return at_end();
    return failed(code);
  }

 private:
  void configure() {
    curl_easy_setopt(curl_, CURLOPT_URL, options_.url.c_str());
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, detail_.data());
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl_, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl_, CURLOPT_MAXREDIRS, kRedirects);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl_, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(curl_, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
    curl_easy_setopt(curl_, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
    curl_easy_setopt(curl_, CURLOPT_USERAGENT, "sterna");
    curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(options_.connect_timeout.count()));
    curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_LIMIT, kStalledBytesPerSecond);
    curl_easy_setopt(curl_, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(options_.stall_timeout.count()));
    curl_easy_setopt(curl_, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options_.bytes));
    // A plain Range, not CURLOPT_RESUME_FROM: a server that ignores it and sends all is fine too.
    range_ = fmt::format("{}-", part_.size());
    if (!from_start_) curl_easy_setopt(curl_, CURLOPT_RANGE, range_.c_str());
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &Request::on_bytes);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, this);
  }

  static std::size_t on_bytes(const char* data, std::size_t, std::size_t size, void* self) {
    // Any number but `size` makes libcurl end the transfer.
    return static_cast<Request*>(self)->take(data, size) ? size : size + 1;
  }

  bool take(const char* data, std::size_t size) {
    // Anything but "206 Partial Content" is the whole file from its first byte.
    if (!from_start_ && status() != 206) {
      from_start_ = true;
      if (!part_.empty()) return false;
    }
    too_much_ = size > options_.bytes - part_.size();
    if (too_much_ || !part_.append(data, size)) return false;
    if (options_.progress) options_.progress(part_.size());
    return true;
  }

  long status() const {
    long code = 0;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }

  DownloadResult at_end() {
    if (part_.size() < options_.bytes) {
      return ended(DownloadEnd::interrupted, fmt::format("the server ended after {} of {} bytes",
                                                         part_.size(), options_.bytes));
    }
    if (!part_.sync()) return ended(DownloadEnd::local, part_.problem());
    return ended(DownloadEnd::complete, "");
  }

  DownloadResult failed(CURLcode code) {
    const std::string text = detail_[0] != '\0' ? detail_.data() : curl_easy_strerror(code);
    switch (code) {
      case CURLE_HTTP_RETURNED_ERROR: {
        const std::string answer = fmt::format("the server answered {}", status());
        // 416: the part is not a beginning of what the server has.
        if (status() == 416) return wrong_answer(answer);
        return ended(status() >= 500 ? DownloadEnd::interrupted : DownloadEnd::not_there, answer);
      }
      case CURLE_PARTIAL_FILE:
      case CURLE_RECV_ERROR:
      case CURLE_GOT_NOTHING:
      case CURLE_SEND_ERROR:
        return ended(DownloadEnd::interrupted, text);
      case CURLE_OPERATION_TIMEDOUT:
        return ended(connected() ? DownloadEnd::interrupted : DownloadEnd::not_there, text);
      default:
        return ended(DownloadEnd::not_there, text);
    }
  }

  bool connected() const {
    double seconds = 0;
    curl_easy_getinfo(curl_, CURLINFO_CONNECT_TIME, &seconds);
    return seconds > 0;
  }

  DownloadResult wrong_answer(std::string why) {
    if (!part_.empty()) return ended(DownloadEnd::local, part_.problem());
    return ended(DownloadEnd::wrong_answer, std::move(why));
  }
  DownloadResult ended(DownloadEnd end, std::string why) const {
    return {.end = end, .why = std::move(why), .from_start = from_start_};
  }

  const DownloadOptions& options_;
  PartFile& part_;
  CURL* curl_;
  bool from_start_;
  bool too_much_ = false;
  std::string range_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
};

}  // namespace

DownloadResult download(const DownloadOptions& options) {
  const auto held = std::make_shared<PartFile>(options.part);
  PartFile& part = *held;
  if (!part.problem().empty()) return {.end = DownloadEnd::local, .why = part.problem()};
  // Already as large as the whole, and nobody vouches for it: begin again.
  if (part.size() >= options.bytes && !part.empty()) {
    return {.end = DownloadEnd::local, .why = part.problem()};
  }
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (!curl) return {.end = DownloadEnd::local, .why = "libcurl cannot start"};
  DownloadResult result = Request(options, part, curl.get()).run();
  if (result.end == DownloadEnd::complete) result.held = held;
  return result;
}

}  // namespace sterna::input
