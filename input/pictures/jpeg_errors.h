// What libjpeg says of a file, as a failure of the step (trap.h) or as a warning.
#pragma once

#include <cstddef>
#include <cstdio>  // before jpeglib.h, which needs its FILE

#include <jerror.h>
#include <jpeglib.h>

#include <array>

#include "input/pictures/trap.h"

namespace sterna::input {

struct JpegErrors {
  jpeg_error_mgr manager{};   // first: libjpeg knows its place, and so ours
  Trap* trap = nullptr;       ///< of the step that libjpeg is called in
  bool bytes_ended = false;   ///< libjpeg asked for more bytes than there are
  bool data_missing = false;  ///< it needed more than stands before the end marker

  /// Before an object of libjpeg's is created, which points to `this` from then on.
  template <class Object>
  void watch(Object& object, Trap& with) {
    trap = &with;
    object.err = jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr failed) {
      std::array<char, JMSG_LENGTH_MAX> message{};
      (*failed->err->format_message)(failed, message.data());
      of(failed).trap->fail(message.data());
    };
    manager.emit_message = [](j_common_ptr warned, int level) {
      if (level >= 0) return;  // a trace
      JpegErrors& errors = of(warned);
      const int code = warned->err->msg_code;
      errors.bytes_ended = errors.bytes_ended || code == JWRN_JPEG_EOF;
      // Only decoding warns of this. At its bytes' end it sees an end marker, too.
      errors.data_missing = errors.data_missing ||
                            (code == JWRN_HIT_MARKER &&
                             reinterpret_cast<j_decompress_ptr>(warned)->unread_marker == JPEG_EOI);
    };
    manager.output_message = [](j_common_ptr) {};
  }

  static JpegErrors& of(j_common_ptr object) { return *reinterpret_cast<JpegErrors*>(object->err); }
};

}  // namespace sterna::input
