"""Sends FROM responses to each request, and stops when nobody reads them any more."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            self.count_down(request)

    @staticmethod
    def count_down(request):
        sender = request.get_response_sender()
        start = int(pb_utils.get_input_tensor_by_name(request, "FROM").as_numpy()[0])
        for left in range(start, 0, -1):
            if sender.is_cancelled():
                break
            output = pb_utils.Tensor("LEFT", np.array([left], dtype=np.int32))
            sender.send(pb_utils.InferenceResponse([output]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
