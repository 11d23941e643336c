#include "runtime/remote/build_id.h"

#include <elf.h>
#include <link.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "runtime/base/hex.h"

namespace sterna {

namespace {

/// Notes are a few hundred bytes; a file that claims more is none of ours.
constexpr std::size_t kMaxNotes = 1U << 20;

constexpr std::size_t aligned(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T* to, std::size_t count = 1) {
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof(T)));
  return file.good();
}

/// The build id among the notes of one PT_NOTE segment, or "".
std::string find_build_id(std::string_view notes) {
  while (notes.size() > sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t name = sizeof header;
    const std::size_t content = name + aligned(header.n_namesz);
    const std::size_t end = content + aligned(header.n_descsz);
    if (end > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && notes.substr(name, 3) == "GNU") {
      return to_hex(std::as_bytes(std::span(notes.substr(content, header.n_descsz))));
    }
    notes.remove_prefix(end);
  }
  return "";
}

}  // namespace

Result<std::string> build_id_of(const std::filesystem::path& program) {
  std::ifstream file(program, std::ios::binary);
  if (!file) return system_error("cannot read " + program.string(), errno);
  const Error no_program{Errc::malformed, program.string() + " is not a program of this machine"};
  ElfW(Ehdr) elf;
  if (!read_at(file, 0, &elf) || std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
      elf.e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) ||
      elf.e_phentsize != sizeof(ElfW(Phdr))) {
    return no_program;
  }
  std::vector<ElfW(Phdr)> segments(elf.e_phnum);
  if (!read_at(file, elf.e_phoff, segments.data(), segments.size())) return no_program;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNotes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) return no_program;
    if (std::string id = find_build_id(notes); !id.empty()) return id;
  }
  return std::string("unknown");
}

std::string own_build_id() {
  Result<std::string> id = build_id_of("/proc/self/exe");
  return id ? std::move(id).value() : "unknown";
}

}  // namespace sterna
