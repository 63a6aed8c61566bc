"""Tiny models for the tests: one for each datatype, and one for each way a model can be awkward."""

from onnx import helper

from graph import DATATYPES, constant, node, tensor, write


def write_identities(folder):
    for datatype in DATATYPES:
        write(
            folder / f"identity_{datatype.lower()}.onnx",
            f"identity_{datatype.lower()}",
            [node("Identity", ["INPUT0"], ["OUTPUT0"])],
            [tensor("INPUT0", datatype, ["batch", "length"])],
            [tensor("OUTPUT0", datatype, ["batch", "length"])],
        )


def write_repeat(folder):
    """Repeats each row as often as the largest number in INPUT1: only a run tells the shape."""
    write(
        folder / "repeat.onnx",
        "repeat",
        [
            node("ReduceMax", ["INPUT1"], ["times"], keepdims=0),
            node("Reshape", ["times", "one"], ["times_1d"]),
            node("Concat", ["one", "times_1d"], ["repeats"], axis=0),
            node("Tile", ["INPUT0", "repeats"], ["OUTPUT0"]),
        ],
        [tensor("INPUT0", "FP32", ["batch", 1]), tensor("INPUT1", "INT64", ["batch", 1])],
        [tensor("OUTPUT0", "FP32", ["batch", "repeated"])],
        [constant("one", "INT64", [1], [1])],
    )


def write_nonzero(folder):
    """The indices of all elements but zeros: no batch dimension, output of any length."""
    write(
        folder / "nonzero.onnx",
        "nonzero",
        [node("NonZero", ["INPUT0"], ["OUTPUT0"])],
        [tensor("INPUT0", "FP32", ["length"])],
        [tensor("OUTPUT0", "INT64", [1, "count"])],
    )


def write_gather(folder):
    """Looks INPUT0 up in a table of four; any other index fails while the model runs."""
    write(
        folder / "gather.onnx",
        "gather",
        [node("Gather", ["table", "INPUT0"], ["OUTPUT0"], axis=0)],
        [tensor("INPUT0", "INT64", ["batch", 1])],
        [tensor("OUTPUT0", "FP32", ["batch", 1])],
        [constant("table", "FP32", [4], [10.0, 20.0, 30.0, 40.0])],
    )


def write_dot(folder):
    """The dot product of two vectors: no batch dimension, a scalar output."""
    write(
        folder / "dot.onnx",
        "dot",
        [
            node("Mul", ["INPUT0", "INPUT1"], ["products"]),
            node("ReduceSum", ["products"], ["OUTPUT0"], keepdims=0),
        ],
        [tensor("INPUT0", "FP32", ["length"]), tensor("INPUT1", "FP32", ["length"])],
        [tensor("OUTPUT0", "FP32", [])],
    )


def write_fixed_batch(folder):
    """A model whose first dimension is a number, as exporters write it when told nothing else."""
    write(
        folder / "fixed_batch.onnx",
        "fixed_batch",
        [node("Neg", ["INPUT0"], ["OUTPUT0"])],
        [tensor("INPUT0", "FP32", [4, 3])],
        [tensor("OUTPUT0", "FP32", [4, 3])],
    )


def write_scale(folder):
    """INPUT0 times SCALE, which a run may leave out: it is 2 then."""
    write(
        folder / "scale.onnx",
        "scale",
        [node("Mul", ["INPUT0", "SCALE"], ["OUTPUT0"])],
        [tensor("INPUT0", "FP32", ["batch", 2]), tensor("SCALE", "FP32", [1])],
        [tensor("OUTPUT0", "FP32", ["batch", 2])],
        [constant("SCALE", "FP32", [1], [2.0])],
    )


def write_product(folder):
    """The product of two matrices: as much work as the caller likes, from a file of a few bytes."""
    write(
        folder / "product.onnx",
        "product",
        [node("MatMul", ["INPUT0", "INPUT1"], ["OUTPUT0"])],
        [
            tensor("INPUT0", "FP32", ["rows", "inner"]),
            tensor("INPUT1", "FP32", ["inner", "columns"]),
        ],
        [tensor("OUTPUT0", "FP32", ["rows", "columns"])],
    )


def write_modulo(folder):
    """Divides by what the caller sends; ONNX Runtime 1.29 looks for zeros, and for nothing else."""
    write(
        folder / "modulo.onnx",
        "modulo",
        [node("Mod", ["INPUT0", "INPUT1"], ["OUTPUT0"])],
        [tensor(name, "INT32", ["batch", "length"]) for name in ("INPUT0", "INPUT1")],
        [tensor("OUTPUT0", "INT32", ["batch", "length"])],
    )


def write_sequence(folder):
    """An output that is no tensor."""
    output = helper.make_tensor_sequence_value_info("OUTPUT0", DATATYPES["FP32"], ["batch", 2])
    write(
        folder / "sequence.onnx",
        "sequence",
        [node("SequenceConstruct", ["INPUT0", "INPUT0"], ["OUTPUT0"])],
        [tensor("INPUT0", "FP32", ["batch", 2])],
        [output],
    )


def write_accumulate(folder):
    """The input plus a state, which is the next state as well: the sum of what a sequence sent."""
    write(
        folder / "accumulate.onnx",
        "accumulate",
        [node("Add", ["INPUT", "STATE_IN"], ["OUTPUT"]), node("Identity", ["OUTPUT"], ["STATE_OUT"])],
        [tensor(name, "FP32", ["batch", 1]) for name in ("INPUT", "STATE_IN")],
        [tensor(name, "FP32", ["batch", 1]) for name in ("OUTPUT", "STATE_OUT")],
    )


def write_ragged_sums(folder):
    """Sums segments of one long vector, which end where INDEX says, and doubles its elements."""
    write(
        folder / "ragged_sums.onnx",
        "ragged_sums",
        [
            node("CumSum", ["VALUES", "axis"], ["running"]),
            node("Concat", ["zero", "running"], ["totals"], axis=0),
            node("Gather", ["totals", "INDEX"], ["ends"], axis=0),
            node("Concat", ["zero", "ends"], ["shifted"], axis=0),
            node("Slice", ["shifted", "first", "last"], ["begins"]),
            node("Sub", ["ends", "begins"], ["sums"]),
            node("Unsqueeze", ["sums", "one"], ["SUMS"]),
            node("Add", ["VALUES", "VALUES"], ["DOUBLED"]),
        ],
        [tensor("VALUES", "FP32", ["total"]), tensor("INDEX", "INT32", ["requests"])],
        [tensor("SUMS", "FP32", ["requests", 1]), tensor("DOUBLED", "FP32", ["total"])],
        [
            constant("axis", "INT32", [], [0]),
            constant("zero", "FP32", [1], [0.0]),
            constant("first", "INT64", [1], [0]),
            constant("last", "INT64", [1], [-1]),
            constant("one", "INT64", [1], [1]),
        ],
    )


def write_common(folder):
    """A cross-encoder that says how many words of the second text the first has, too."""
    write(
        folder / "common.onnx",
        "common",
        [
            node("Unsqueeze", ["input_ids", "two"], ["rows"]),
            node("Unsqueeze", ["input_ids", "one"], ["columns"]),
            node("Equal", ["rows", "columns"], ["equal"]),
            node("Cast", ["equal"], ["same"], to=DATATYPES["FP32"]),
            node("Cast", ["attention_mask"], ["there"], to=DATATYPES["FP32"]),
            node("Cast", ["token_type_ids"], ["second"], to=DATATYPES["FP32"]),
            node("Sub", ["there", "second"], ["first"]),
            node("Unsqueeze", ["first", "one"], ["first_columns"]),
            node("Mul", ["same", "first_columns"], ["met"]),
            node("ReduceMax", ["met"], ["any"], axes=[2], keepdims=0),
            node("Mul", ["any", "second"], ["counted"]),
            node("ReduceSum", ["counted", "one"], ["all"], keepdims=1),
            # Both texts end with the same token.
            node("Sub", ["all", "end"], ["logits"]),
        ],
        [
            tensor(name, "INT64", ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [tensor("logits", "FP32", ["batch", 1])],
        [
            constant("one", "INT64", [1], [1]),
            constant("two", "INT64", [1], [2]),
            constant("end", "FP32", [1], [1.0]),
        ],
    )


def write_unlike_identity(folder):
    """Models that answer nearly as identity_fp32 does."""

    def nearly(name, nodes, *constants):
        write(
            folder / f"{name}.onnx",
            name,
            nodes,
            [tensor("INPUT0", "FP32", ["batch", "length"])],
            [tensor("OUTPUT0", "FP32", ["batch", "length"])],
            constants,
        )

    nearly(  # an error of a thousandth, in elements that are 617
        "planted",
        [
            node("Equal", ["INPUT0", "one"], ["wrong"]),
            node("Mul", ["INPUT0", "factor"], ["larger"]),
            node("Where", ["wrong", "larger", "INPUT0"], ["OUTPUT0"]),
        ],
        constant("one", "FP32", [], [617.0]),
        constant("factor", "FP32", [], [1.001]),
    )
    for name, seed in (("noisy", 1.0), ("noisy_again", 2.0)):
        nearly(  # another answer each time
            name,
            [
                node("RandomNormalLike", ["INPUT0"], ["random"], scale=0.001, seed=seed),
                node("Add", ["INPUT0", "random"], ["OUTPUT0"]),
            ],
        )
    nearly(  # 256 steps between the least and the largest element of a batch
        "dynamic_quantization",
        [
            node("DynamicQuantizeLinear", ["INPUT0"], ["steps", "step", "zero"]),
            node("DequantizeLinear", ["steps", "step", "zero"], ["OUTPUT0"]),
        ],
    )


def write_all(folder):
    write_identities(folder)
    write_repeat(folder)
    write_nonzero(folder)
    write_gather(folder)
    write_dot(folder)
    write_fixed_batch(folder)
    write_scale(folder)
    write_product(folder)
    write_modulo(folder)
    write_sequence(folder)
    write_accumulate(folder)
    write_ragged_sums(folder)
    write_common(folder)
    write_unlike_identity(folder)
