#include "actors/parameters/parameter_hash.h"

#include <sodium/crypto_generichash.h>

namespace sterna::actors {

Hash hash_of(ByteView bytes) {
  Hash hash{};
  crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr,
                     0);
  return hash;
}

}  // namespace sterna::actors
