// What torchvision calls the tensors of those of its nets that are ours, too: resnet50 (resnet_50)
// and inception_v3. Shapes and layouts are the same, OIHW and {out, in}.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sterna::nets {

/// Those of our nets that are torchvision's.
std::vector<std::string_view> torchvision_nets();

/// None: the net is not among them, or has no such tensor.
std::optional<std::string> torchvision_name(std::string_view net, std::string_view tensor);

}  // namespace sterna::nets
