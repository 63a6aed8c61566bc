// Reads from a shared library's file what it takes from others, without loading it.
#ifndef NEREID_TRITON_ELF_IMPORTS_H_
#define NEREID_TRITON_ELF_IMPORTS_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::triton {

// The names of the dynamic symbols that the file needs and does not have, weak ones left out.
// NRD_INVALID_ARGUMENT: it is no shared library of this machine; NRD_NOT_FOUND: there is no file.
Status ReadImports(const std::string& path, std::vector<std::string>* names_out);

}  // namespace nereid::triton

#endif  // NEREID_TRITON_ELF_IMPORTS_H_
