#include "base/sha256.h"

#include <string>

#include "doctest/doctest.h"

namespace nereid {
namespace {

std::string Hex(const Sha256::Digest& digest) {
  std::string text;
  for (const uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Hashes in pieces of so many bytes.
std::string HashOf(std::string_view text, size_t piece) {
  Sha256 hash;
  for (size_t at = 0; at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    hash.Append(part.data(), part.size());
  }
  return Hex(hash.Finish());
}

TEST_CASE("SHA-256 gives the digests of the standard's examples") {
  CHECK(HashOf("", 1) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(HashOf("abc", 3) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(HashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(HashOf(std::string(1'000'000, 'a'), 4096) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 does not depend on the pieces that bytes come in") {
  for (const size_t size : {55, 56, 63, 64, 65, 127, 128, 200}) {
    const std::string text(size, 'x');
    const std::string whole = HashOf(text, size);
    for (const size_t piece : {1, 7, 63, 64, 65}) {
      CHECK(HashOf(text, piece) == whole);
    }
  }
}

}  // namespace
}  // namespace nereid
