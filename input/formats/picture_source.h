// A folder for each class of pictures, in `train/` and `val/` (or `test/`), as a data set: each
// picture is read when it is asked for.
#pragma once

#include "input/formats/format.h"

namespace sterna::input {

/// See picture_folder.h. For a damaged picture stands another of its 64 neighbours.
extern const Format kPictureFolder;

}  // namespace sterna::input
