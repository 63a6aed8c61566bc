"""Writes small ONNX models in one fixed form, so that the same call gives the same bytes."""

import pathlib

import onnx
from onnx import TensorProto, checker, helper

# Old enough for every ONNX Runtime in use, new enough for BFLOAT16 in Identity.
OPSET = 13
IR_VERSION = 7

# The protocol's name of a datatype and ONNX's number for it.
DATATYPES = {
    "BOOL": TensorProto.BOOL,
    "UINT8": TensorProto.UINT8,
    "UINT16": TensorProto.UINT16,
    "UINT32": TensorProto.UINT32,
    "UINT64": TensorProto.UINT64,
    "INT8": TensorProto.INT8,
    "INT16": TensorProto.INT16,
    "INT32": TensorProto.INT32,
    "INT64": TensorProto.INT64,
    "FP16": TensorProto.FLOAT16,
    "FP32": TensorProto.FLOAT,
    "FP64": TensorProto.DOUBLE,
    "BF16": TensorProto.BFLOAT16,
    "BYTES": TensorProto.STRING,
}


def tensor(name, datatype, dims):
    """An input or output; a dimension is a number, or a name where the caller decides."""
    return helper.make_tensor_value_info(name, DATATYPES[datatype], dims)


def constant(name, datatype, dims, values):
    """A tensor stored in the model; numpy arrays keep their bits."""
    if hasattr(values, "tobytes"):
        return helper.make_tensor(name, DATATYPES[datatype], dims, values.tobytes(), raw=True)
    return helper.make_tensor(name, DATATYPES[datatype], dims, values)


def node(operator, inputs, outputs, **attributes):
    name = outputs[0] + "/" + operator
    return helper.make_node(operator, inputs, outputs, name=name, **attributes)


def write(path, name, nodes, inputs, outputs, constants=()):
    """Checks the model and writes it; returns its size in bytes."""
    graph = helper.make_graph(nodes, name, inputs, outputs, list(constants))
    model = helper.make_model(
        graph,
        producer_name="nereid",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    checker.check_model(model, full_check=True)
    data = model.SerializeToString(deterministic=True)
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return len(data)
