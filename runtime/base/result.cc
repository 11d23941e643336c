#include "runtime/base/result.h"

#include <cstring>

#include "runtime/base/misuse.h"

namespace sterna {

namespace detail {

void read_value_of_failed(const Error& error) {
  misuse("the value of a failed Result is read: " + error.message);
}

void read_error_of_success() { misuse("the error of a Result is read that has none"); }

}  // namespace detail

std::string_view name(Errc code) {
  switch (code) {
    case Errc::remote:
      return "remote";
    case Errc::deadline:
      return "deadline";
    case Errc::cancelled:
      return "cancelled";
    case Errc::actor_down:
      return "actor_down";
    case Errc::overloaded:
      return "overloaded";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::not_found:
      return "not_found";
    case Errc::already_exists:
      return "already_exists";
    case Errc::permission:
      return "permission";
    case Errc::io:
      return "io";
    case Errc::malformed:
      return "malformed";
    case Errc::non_finite:
      return "non_finite";
    case Errc::unavailable:
      return "unavailable";
    case Errc::internal:
      return "internal";
  }
  return "unknown";
}

Error Error::in(std::string_view context) const& { return Error(*this).in(context); }

Error Error::in(std::string_view context) && {
  message.insert(0, ": ").insert(0, context);
  return std::move(*this);
}

Error system_error(std::string_view what, int saved_errno) {
  return Error{Errc::io, std::string(what) + ": " + std::strerror(saved_errno)};
}

}  // namespace sterna
