#include "launcher/bench/actors/messages.h"

namespace sterna::launcher {

namespace {

void set_texts(capnp::List<capnp::Text>::Builder out, const std::vector<std::string>& texts) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out.set(static_cast<unsigned>(i), texts[i].c_str());
  }
}

std::vector<std::string> texts(capnp::List<capnp::Text>::Reader in) {
  std::vector<std::string> all;
  for (const auto text : in) all.emplace_back(text);
  return all;
}

}  // namespace

void Drive::encode(Wire::Builder out, WireWriter&) const {
  auto list = out.initTargets(static_cast<unsigned>(targets.size()));
  for (std::size_t i = 0; i < targets.size(); ++i)
    targets[i].encode(list[static_cast<unsigned>(i)]);
  out.setWindow(window);
  out.setNanoseconds(duration.count());
}

Result<Drive> Drive::decode(Wire::Reader in, WireReader&) {
  Drive drive;
  for (const auto target : in.getTargets()) {
    STERNA_ASSIGN(auto ref, ActorRef<EchoInterface>::decode(target));
    drive.targets.push_back(ref);
  }
  drive.window = in.getWindow();
  drive.duration = Duration(in.getNanoseconds());
  if (drive.targets.empty() || drive.window == 0) {
    return Error{Errc::malformed, "a drive without targets or window"};
  }
  return drive;
}

void DriveRaw::encode(Wire::Builder out, WireWriter&) const {
  set_texts(out.initEndpoints(static_cast<unsigned>(endpoints.size())), endpoints);
  set_texts(out.initServerKeys(static_cast<unsigned>(server_keys.size())), server_keys);
  out.setWindow(window);
  out.setNanoseconds(duration.count());
}

Result<DriveRaw> DriveRaw::decode(Wire::Reader in, WireReader&) {
  DriveRaw drive;
  drive.endpoints = texts(in.getEndpoints());
  drive.server_keys = texts(in.getServerKeys());
  drive.window = in.getWindow();
  drive.duration = Duration(in.getNanoseconds());
  if (drive.endpoints.empty() || drive.window == 0) {
    return Error{Errc::malformed, "a drive without endpoints or window"};
  }
  if (!drive.server_keys.empty() && drive.server_keys.size() != drive.endpoints.size()) {
    return Error{Errc::malformed, "as many server keys as endpoints, or none"};
  }
  return drive;
}

}  // namespace sterna::launcher
