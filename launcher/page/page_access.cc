#include "launcher/page/page_access.h"

#include <fmt/format.h>

#include "runtime/base/random.h"
#include "runtime/zmq/curve_keys.h"

namespace sterna::launcher {
namespace {

std::string drawn(int words) {
  SystemRandom random;
  std::string text;
  for (int i = 0; i < words; ++i) text += fmt::format("{:016x}", random.next());
  return text;
}

/// This machine, at whatever port: behind ssh's forwarding it may be another.
bool is_loopback(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && !host.ends_with(']')) {
    const std::string_view port = host.substr(colon + 1);
    if (port.empty() || port.find_first_not_of("0123456789") != std::string_view::npos) {
      return false;
    }
    host = host.substr(0, colon);
  }
  return host == "127.0.0.1" || host == "localhost" || host == "[::1]";
}

}  // namespace

PageKeys PageKeys::draw() {
  constexpr int kSecretWords = 4;
  return {drawn(kSecretWords), drawn(kSecretWords), "sterna-" + drawn(1)};
}

PageAccess access_of(const PageRequest& request, const PageKeys& keys) {
  if (!is_loopback(request.host)) return PageAccess::refused;
  if (!request.origin.empty() && request.origin != fmt::format("http://{}", request.host)) {
    return PageAccess::refused;
  }
  if (!request.token.empty()) {
    return constant_time_equal(request.token, keys.token) ? PageAccess::traded
                                                          : PageAccess::refused;
  }
  return constant_time_equal(request.session, keys.session) ? PageAccess::granted
                                                            : PageAccess::refused;
}

std::string cookie_header(const PageKeys& keys) {
  constexpr int kDay = 24 * 60 * 60;
  return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Strict", keys.cookie_name,
                     keys.session, kDay);
}

}  // namespace sterna::launcher
