// TRITONBACKEND_ModelInstanceReport*: functions by which a backend reports its times.
#include "triton/errors.h"
#include "triton/execution.h"
#include "triton/instance.h"
#include "triton/request.h"
#include "triton/response.h"

namespace nereid::triton {

// Statistics of a decoupled model's response. The core keeps statistics of requests and batches, so
// these are checked and dropped.
class ResponseStatistics : public Handle {
 public:
  static constexpr Kind kKind = Kind::kResponseStatistics;

  ResponseStatistics() { Open(kKind, &Owner::Current()); }

  TRITONBACKEND_ModelInstance* instance = nullptr;
  TRITONBACKEND_ResponseFactory* factory = nullptr;
  uint64_t response_start_ns = 0;
  uint64_t output_start_ns = 0;
  uint64_t response_end_ns = 0;
};

}  // namespace nereid::triton

using nereid::Status;
using nereid::triton::Execution;
using nereid::triton::Find;
using nereid::triton::Instance;
using nereid::triton::Request;
using nereid::triton::ResponseFactory;
using nereid::triton::ResponseStatistics;
using nereid::triton::Serve;
using nereid::triton::Site;

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, const bool success,
    const uint64_t /*execute_start_ns*/, const uint64_t compute_start_ns,
    const uint64_t compute_end_ns, const uint64_t /*execute_end_ns*/) {
  const Site site = NRT_SITE;
  return Serve<Instance>(site, instance, [&](Instance& /*known*/) -> Status {
    Request* const known = Find<Request>(request);
    if (known == nullptr) {
      return nereid::triton::WrongHandle(site, Request::kKind, request);
    }
    if (success) {
      known->execution().Computed(compute_start_ns, compute_end_ns);
    }
    return Status();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, const uint64_t /*batch_size*/,
    const uint64_t /*execute_start_ns*/, const uint64_t compute_start_ns,
    const uint64_t compute_end_ns, const uint64_t /*execute_end_ns*/) {
  return Serve<Instance>(NRT_SITE, instance, [&](Instance& known) {
    if (Execution* const execution = known.current(); execution != nullptr) {
      execution->Computed(compute_start_ns, compute_end_ns);
    }
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsNew(
    TRITONBACKEND_ResponseStatistics** statistics) {
  return Serve(NRT_SITE, [&] {
    *statistics = nereid::triton::Give<TRITONBACKEND_ResponseStatistics>(new ResponseStatistics);
  });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsDelete(
    TRITONBACKEND_ResponseStatistics* statistics) {
  return Serve<ResponseStatistics>(NRT_SITE, statistics,
                                   [](ResponseStatistics& known) { delete &known; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetModelInstance(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONBACKEND_ModelInstance* instance) {
  return Serve<ResponseStatistics>(NRT_SITE, statistics,
                                   [&](ResponseStatistics& known) { known.instance = instance; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseFactory(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONBACKEND_ResponseFactory* factory) {
  return Serve<ResponseStatistics>(NRT_SITE, statistics,
                                   [&](ResponseStatistics& known) { known.factory = factory; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseStart(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns) {
  return Serve<ResponseStatistics>(
      NRT_SITE, statistics, [&](ResponseStatistics& known) { known.response_start_ns = time_ns; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetComputeOutputStart(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns) {
  return Serve<ResponseStatistics>(
      NRT_SITE, statistics, [&](ResponseStatistics& known) { known.output_start_ns = time_ns; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetResponseEnd(
    TRITONBACKEND_ResponseStatistics* statistics, uint64_t time_ns) {
  return Serve<ResponseStatistics>(
      NRT_SITE, statistics, [&](ResponseStatistics& known) { known.response_end_ns = time_ns; });
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceResponseStatisticsSetError(
    TRITONBACKEND_ResponseStatistics* statistics, TRITONSERVER_Error* /*error*/) {
  return Serve<ResponseStatistics>(NRT_SITE, statistics, [](ResponseStatistics& /*known*/) {});
}

TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportResponseStatistics(
    TRITONBACKEND_ResponseStatistics* statistics) {
  const Site site = NRT_SITE;
  return Serve<ResponseStatistics>(site, statistics, [&](ResponseStatistics& known) -> Status {
    if (Find<Instance>(known.instance) == nullptr) {
      return nereid::triton::WrongHandle(site, Instance::kKind, known.instance);
    }
    if (Find<ResponseFactory>(known.factory) == nullptr) {
      return nereid::triton::WrongHandle(site, ResponseFactory::kKind, known.factory);
    }
    const bool ordered =
        known.response_start_ns <= known.response_end_ns &&
        (known.output_start_ns == 0 || (known.response_start_ns <= known.output_start_ns &&
                                        known.output_start_ns <= known.response_end_ns));
    return ordered
               ? Status()
               : Status::InvalidArgument("the times of a response's statistics are not in order");
  });
}

}  // extern "C"
