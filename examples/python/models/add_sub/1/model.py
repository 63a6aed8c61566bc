"""SUM is A + B, DIFFERENCE is A - B."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        """Takes the requests of a batch, and gives back a response for each."""
        return [self.respond(request) for request in requests]

    @staticmethod
    def respond(request):
        a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
        b = pb_utils.get_input_tensor_by_name(request, "B").as_numpy()
        if a.shape != b.shape:
            message = f"A has the shape {list(a.shape)} and B {list(b.shape)}: they must be the same"
            error = pb_utils.TritonError(message, pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=error)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("SUM", a + b), pb_utils.Tensor("DIFFERENCE", a - b)]
        )
