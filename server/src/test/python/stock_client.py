"""Talks to a server as clients in Python do, with stubs made from the proto file.

Usage: stock_client.py DIRECTORY_OF_STUBS HOST:PORT. Prints a line for everything that holds, and ends with 1
at the first thing that does not. The server has the models identity (FP32), gate (never answers) and repeat.
"""

import struct
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])

import grpc  # noqa: E402
import grpc_service_pb2 as pb  # noqa: E402
import grpc_service_pb2_grpc as service  # noqa: E402


def expect(what, holds):
    if not holds:
        sys.exit("it does not hold that " + what)
    print("holds: " + what)


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def request(model, *values):
    message = pb.ModelInferRequest(model_name=model, id="p")
    message.inputs.add(name="IN", datatype="FP32", shape=[1, len(values)])
    message.raw_input_contents.append(floats(*values))
    return message


def metadata(stub):
    expect("the server is live and ready",
           stub.ServerLive(pb.ServerLiveRequest()).live and stub.ServerReady(pb.ServerReadyRequest()).ready)
    expect("it names itself", stub.ServerMetadata(pb.ServerMetadataRequest()).name == "nereid")
    model = stub.ModelMetadata(pb.ModelMetadataRequest(name="identity"))
    expect("a model tells its tensors", [t.name for t in model.inputs] == ["IN"])
    config = stub.ModelConfig(pb.ModelConfigRequest(name="identity")).config
    expect("and its configuration", config.name == "identity")
    expect("what is not there is not ready", not stub.ModelReady(pb.ModelReadyRequest(name="none")).ready)


def infer(stub):
    reply = stub.ModelInfer(request("identity", 1.5, -2.0))
    expect("raw tensors come back", reply.raw_output_contents[0] == floats(1.5, -2.0) and reply.id == "p")
    typed = pb.ModelInferRequest(model_name="identity")
    tensor = typed.inputs.add(name="IN", datatype="FP32", shape=[1, 3])
    tensor.contents.fp32_contents.extend([1.0, 2.0, 3.0])
    reply = stub.ModelInfer(typed)
    expect("typed tensors come back raw", reply.raw_output_contents[0] == floats(1, 2, 3))
    try:
        stub.ModelInfer(request("none", 1.0))
        expect("an unknown model is an error", False)
    except grpc.RpcError as error:
        expect("an unknown model is not found", error.code() == grpc.StatusCode.NOT_FOUND)


def stream(stub):
    answers = [r.infer_response.raw_output_contents[0]
               for r in stub.ModelStreamInfer(iter([request("identity", float(i)) for i in range(50)]))]
    expect("a stream answers in order", answers == [floats(float(i)) for i in range(50)])
    message = pb.ModelInferRequest(model_name="repeat")
    for name, datatype, values in (("IN", "INT32", (7, 8, 9)), ("DELAY", "UINT32", (0, 0, 0)), ("WAIT", "UINT32", (0,))):
        message.inputs.add(name=name, datatype=datatype, shape=[len(values)])
        message.raw_input_contents.append(struct.pack("<%di" % len(values), *values))
    replies = [struct.unpack("<i", r.infer_response.raw_output_contents[0])[0]
               for r in stub.ModelStreamInfer(iter([message])) if r.infer_response.raw_output_contents]
    expect("a decoupled model answers many times", replies == [7, 8, 9])


def cancel(stub):
    call = stub.ModelInfer.future(request("gate", 1.0))
    threading.Timer(0.2, call.cancel).start()
    try:
        call.result(timeout=20)
        expect("a cancelled call has no answer", False)
    except grpc.FutureCancelledError:
        expect("a call can be cancelled", call.cancelled())
    start = time.monotonic()
    try:
        stub.ModelInfer(request("gate", 1.0), timeout=0.2)
        expect("a deadline ends a call", False)
    except grpc.RpcError as error:
        expect("a deadline ends a call in time",
               error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and time.monotonic() - start < 20)


with grpc.insecure_channel(sys.argv[2]) as channel:
    client = service.GRPCInferenceServiceStub(channel)
    metadata(client)
    infer(client)
    stream(client)
    cancel(client)
