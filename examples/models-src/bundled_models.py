"""The bundled models that need no training: simple and simple_string."""

from onnx import TensorProto

from graph import node, tensor, write

LENGTH = 16


def write_simple(folder):
    write(
        folder / "simple" / "1" / "model.onnx",
        "simple",
        [
            node("Add", ["INPUT0", "INPUT1"], ["OUTPUT0"]),
            node("Sub", ["INPUT0", "INPUT1"], ["OUTPUT1"]),
        ],
        [tensor(name, "INT32", ["batch", LENGTH]) for name in ("INPUT0", "INPUT1")],
        [tensor(name, "INT32", ["batch", LENGTH]) for name in ("OUTPUT0", "OUTPUT1")],
    )


def write_simple_string(folder):
    write(
        folder / "simple_string" / "1" / "model.onnx",
        "simple_string",
        [
            node("Cast", ["INPUT0"], ["left"], to=TensorProto.INT32),
            node("Cast", ["INPUT1"], ["right"], to=TensorProto.INT32),
            node("Add", ["left", "right"], ["sum"]),
            node("Sub", ["left", "right"], ["difference"]),
            node("Cast", ["sum"], ["OUTPUT0"], to=TensorProto.STRING),
            node("Cast", ["difference"], ["OUTPUT1"], to=TensorProto.STRING),
        ],
        [tensor(name, "BYTES", ["batch", LENGTH]) for name in ("INPUT0", "INPUT1")],
        [tensor(name, "BYTES", ["batch", LENGTH]) for name in ("OUTPUT0", "OUTPUT1")],
    )


def write_all(folder):
    write_simple(folder)
    write_simple_string(folder)
