// Who may look at a page. Pure.
//
// Any user and any web page of this machine can reach 127.0.0.1: the first is kept out by a token
// that only the address holds, the second by the names that a browser says (of the host that it
// asks, which DNS may have pointed here, and of the page that asks), and by a cookie that no other
// site's request carries.
#pragma once

#include <string>
#include <string_view>

namespace sterna::launcher {

/// Two secrets of one server, drawn when it starts.
struct PageKeys {
  std::string token;        ///< in the address
  std::string session;      ///< in the cookie, which the token is traded for
  std::string cookie_name;  ///< of its own for each server: cookies do not tell ports apart
  static PageKeys draw();
};

/// What a request says of itself; "" where it says nothing.
struct PageRequest {
  std::string_view host;    ///< the header's
  std::string_view origin;  ///< likewise
  std::string_view token;
  std::string_view session;
};

enum class PageAccess {
  granted,
  traded,  ///< the token is right: the cookie is to be set
  refused,
};
PageAccess access_of(const PageRequest& request, const PageKeys& keys);

/// A cookie for scripts of nobody and requests of our own pages alone. After a day without a
/// request the browser forgets it: those of many runs lie on one host, and all of them go with each
/// request.
std::string cookie_header(const PageKeys& keys);

}  // namespace sterna::launcher
