// Reads the imports of a shared library's file, without loading it.
#ifndef NEREID_TRITON_ELF_IMPORTS_H_
#define NEREID_TRITON_ELF_IMPORTS_H_

#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::triton {

// The names of dynamic symbols that the file needs and lacks, without weak ones.
// NRD_INVALID_ARGUMENT: not a shared library for this machine; NRD_NOT_FOUND: no file.
Status ReadImports(const std::string& path, std::vector<std::string>* names_out);

}  // namespace nereid::triton

#endif  // NEREID_TRITON_ELF_IMPORTS_H_
