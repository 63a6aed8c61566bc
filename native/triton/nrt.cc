// Functions that the control plane calls: nereid_triton.h, except those of one kind of plug-in.
#include "triton/errors.h"
#include "triton/handle.h"
#include "triton/host.h"
#include "triton/nereid_triton.h"

extern "C" {

uint32_t nrt_abi_version(void) { return NRT_ABI_VERSION; }

int32_t nrt_start(const nrt_host* host, nrd_error* error_out) {
  return nereid::Report(nereid::triton::StartHost(*host), error_out);
}

void nrt_set_log_level(int32_t level, int32_t verbosity) {
  nereid::triton::SetLogLevel(level, verbosity);
}

void nrt_handles_write(void* taker, nrt_take_fn take) {
  const std::string text = nereid::triton::Owner::AllHoldings();
  take(taker, text.data(), text.size());
}

}  // extern "C"
