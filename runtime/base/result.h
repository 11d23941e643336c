// Result<T>: a value, or an error that says what failed, where, and what to do about it.
//
// Used wherever a peer, a user or a machine can be at fault. Assertions are for our own mistakes.
// Nothing here throws. Reading the value of a failed Result, or the error of one that is not, is
// misuse, which ends the program in every build (runtime/base/misuse.h).
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace sterna {

/// The kind of failure. The first five are how asks end of themselves; handlers answer with any.
enum class Errc {
  remote,            ///< the other actor's handler threw, or failed for want of somebody else
  deadline,          ///< no answer in time
  cancelled,         ///< the asker, or the actor asked, gave up
  actor_down,        ///< the actor asked is dead or cannot be reached; the message names the cause
  overloaded,        ///< a bounded queue is full, or memory of a device
  invalid_argument,  ///< what the caller (often: the user) gave is wrong
  not_found,         ///< a file, name or key does not exist
  already_exists,    ///< a name or file is taken
  permission,        ///< not allowed
  io,                ///< a system call failed
  malformed,         ///< bytes that do not decode
  non_finite,        ///< a NaN or an infinity where a number belongs
  unavailable,       ///< a library, device or service is missing
  internal,          ///< an invariant of ours was broken
};

/// The name of an error kind as logs and JSON print it, e.g. "actor_down".
std::string_view name(Errc code);

/// An error: its kind and one line for a person. Context is prepended as it travels up.
struct Error {
  Errc code = Errc::internal;
  std::string message;

  /// The same error with "context: " before its message.
  [[nodiscard]] Error in(std::string_view context) const&;
  [[nodiscard]] Error in(std::string_view context) &&;
};

namespace detail {
/// Says which error it was, which nobody has looked at.
[[noreturn]] void read_value_of_failed(const Error& error);
[[noreturn]] void read_error_of_success();
}  // namespace detail

/// A union of our own: of std::variant each kind would cost what compiling the rest of it does.
template <class T>
class [[nodiscard]] Result {
 public:
  using Value = T;
  // NOLINTNEXTLINE(google-explicit-constructor): an implicit conversion by design
  Result(T value) : value_(std::move(value)), ok_(true) {}
  // NOLINTNEXTLINE(google-explicit-constructor): an implicit conversion by design
  Result(Error error) : error_(std::move(error)), ok_(false) {}
  Result(const Result& other) requires std::copy_constructible<T> : ok_(other.ok_) {
    ok_ ? static_cast<void>(std::construct_at(&value_, other.value_))
        : static_cast<void>(std::construct_at(&error_, other.error_));
  }
  Result(Result&& other) noexcept : ok_(other.ok_) {
    ok_ ? static_cast<void>(std::construct_at(&value_, std::move(other.value_)))
        : static_cast<void>(std::construct_at(&error_, std::move(other.error_)));
  }
  Result& operator=(Result other) noexcept {
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }
  ~Result() { ok_ ? std::destroy_at(&value_) : std::destroy_at(&error_); }

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }

  T& value() & {
    if (!ok_) [[unlikely]]
      detail::read_value_of_failed(error_);
    return value_;
  }
  const T& value() const& {
    if (!ok_) [[unlikely]]
      detail::read_value_of_failed(error_);
    return value_;
  }
  T&& value() && {
    if (!ok_) [[unlikely]]
      detail::read_value_of_failed(error_);
    return std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    if (ok_) [[unlikely]]
      detail::read_error_of_success();
    return error_;
  }
  Error&& error() && {
    if (ok_) [[unlikely]]
      detail::read_error_of_success();
    return std::move(error_);
  }
  /// The same; an error has "context: " before its message.
  [[nodiscard]] Result in(std::string_view context) && {
    if (ok_) return std::move(*this);
    return std::move(error_).in(context);
  }

 private:
  union {
    T value_;
    Error error_;
  };
  bool ok_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using Value = void;
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): an implicit conversion by design
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const& {
    if (ok_) [[unlikely]]
      detail::read_error_of_success();
    return error_;
  }
  Error&& error() && {
    if (ok_) [[unlikely]]
      detail::read_error_of_success();
    return std::move(error_);
  }
  [[nodiscard]] Result in(std::string_view context) && {
    if (ok_) return {};
    return std::move(error_).in(context);
  }

 private:
  Error error_;
  bool ok_ = true;
};

/// An io error that carries the system's word for `saved_errno`.
Error system_error(std::string_view what, int saved_errno);

}  // namespace sterna

/// Returns the error of `expression` (a Result) to the caller, or goes on.
#define STERNA_TRY(expression)                                           \
  do {                                                                   \
    auto sterna_try_result = (expression);                               \
    if (!sterna_try_result) return std::move(sterna_try_result).error(); \
  } while (false)

#define STERNA_CONCAT_INNER(a, b) a##b
#define STERNA_CONCAT(a, b) STERNA_CONCAT_INNER(a, b)

/// Declares `target` from the value of `expression` (a Result), or returns its error to the caller.
#define STERNA_ASSIGN(target, expression) \
  STERNA_ASSIGN_INNER(STERNA_CONCAT(sterna_result_, __LINE__), target, expression)
#define STERNA_ASSIGN_INNER(temporary, target, expression) \
  auto temporary = (expression);                           \
  if (!temporary) return std::move(temporary).error();     \
  target = std::move(temporary).value()
