// While it lives, this process may read no more than any user: the superuser's may everything.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

namespace sterna {

class AsNobody {
 public:
  AsNobody() {
    if (!was_root_) return;
    EXPECT_EQ(::seteuid(kNobody), 0);
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (!was_root_) return;
    EXPECT_EQ(::seteuid(0), 0);
  }

 private:
  static constexpr uid_t kNobody = 65534;
  const bool was_root_ = ::geteuid() == 0;
};

}  // namespace sterna
