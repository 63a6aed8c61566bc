#include "triton/elf_imports.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

namespace nereid::triton {

namespace {

// The bytes of a file; structures are read only within its bounds.
class Image {
 public:
  explicit Image(std::string bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  bool Read(uint64_t offset, T* out) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      return false;
    }
    std::memcpy(out, bytes_.data() + offset, sizeof(T));
    return true;
  }

  // The text that begins at an offset within a table; empty when it does not end there.
  [[nodiscard]] std::string_view Text(const Elf64_Shdr& table, uint64_t offset) const {
    const uint64_t begin = table.sh_offset + offset;
    const uint64_t end = table.sh_offset + table.sh_size;
    if (end > bytes_.size() || begin < table.sh_offset || begin >= end) {
      return {};
    }
    const std::string_view rest(bytes_.data() + begin, end - begin);
    const size_t size = rest.find('\0');
    return size == std::string_view::npos ? std::string_view() : rest.substr(0, size);
  }

 private:
  const std::string bytes_;
};

Status ReadFile(const std::string& path, std::string* bytes_out) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0 || size == std::numeric_limits<std::streamoff>::max()) {
    return Status(NRD_NOT_FOUND, "cannot read the shared library " + path);
  }
  bytes_out->resize(static_cast<size_t>(size));
  file.seekg(0);
  file.read(bytes_out->data(), size);
  return file ? Status() : Status(NRD_NOT_FOUND, "cannot read the shared library " + path);
}

void AddImports(const Image& image, const Elf64_Shdr& symbols, const Elf64_Shdr& texts,
                std::vector<std::string>* names_out) {
  Elf64_Sym symbol;
  for (uint64_t at = 0; at + sizeof(symbol) <= symbols.sh_size; at += sizeof(symbol)) {
    if (!image.Read(symbols.sh_offset + at, &symbol)) {
      return;
    }
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL) {
      if (const std::string_view name = image.Text(texts, symbol.st_name); !name.empty()) {
        names_out->emplace_back(name);
      }
    }
  }
}

}  // namespace

Status ReadImports(const std::string& path, std::vector<std::string>* names_out) {
  std::string bytes;
  NRD_RETURN_IF_ERROR(ReadFile(path, &bytes));
  const Image image(std::move(bytes));
  Elf64_Ehdr header;
  if (!image.Read(0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN) {
    return Status::InvalidArgument(path + " is no shared library of 64 bits");
  }
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols;
    Elf64_Shdr texts;
    if (image.Read(header.e_shoff + uint64_t{i} * sizeof(symbols), &symbols) &&
        symbols.sh_type == SHT_DYNSYM &&
        image.Read(header.e_shoff + uint64_t{symbols.sh_link} * sizeof(texts), &texts)) {
      AddImports(image, symbols, texts, names_out);
    }
  }
  return Status();
}

}  // namespace nereid::triton
