// Writes a corpus for envelope_fuzz: a well-formed Heartbeat and Down, so that the fuzzer starts
// from messages that decode. Usage: envelope_seeds DIR

#include <filesystem>
#include <fstream>

#include "runtime/link_messages.h"

namespace sterna {
namespace {

template <class M>
bool write(const std::filesystem::path& path, const M& message) {
  EnvelopeEncoder encoder;
  Header header;
  header.type_id = type_id_of<M>();
  const MessageMail<M> mail{M(message)};
  const auto frames = encoder.encode(
      header, [&](auto& envelope, WireWriter& writer) { mail.encode_body(envelope, writer); });
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(frames[0].view.data()),
            static_cast<std::streamsize>(frames[0].view.size()));
  // FuzzedDataProvider takes its integers from the end: misalignment and words, frames, selector.
  const char tail[] = {0, 0, 0, 1, 0};
  out.write(tail, sizeof tail);
  return out.good();
}

}  // namespace
}  // namespace sterna

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  sterna::Heartbeat heartbeat;
  heartbeat.credit = {1, 2};
  sterna::Down down;
  down.notice = {{{1}, {2}}, "worker0", 1, "signal 9"};
  sterna::Hello hello;
  hello.build_id = "build";
  const bool written = sterna::write(directory / "heartbeat", heartbeat) &&
                       sterna::write(directory / "down", down) &&
                       sterna::write(directory / "hello", hello);
  return written ? 0 : 1;
}
