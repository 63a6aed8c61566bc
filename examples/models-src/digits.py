"""Trains the bundled "digits" model and writes it with its held-out images.

The same bytes must come out on every x86-64 machine, so nothing depends on how a library orders
or fuses additions: sums go through einsum, which keeps to one order, never through BLAS, and the
loss (a squared hinge) needs no exp.
"""

import dataclasses

import numpy
from sklearn.datasets import load_digits

import drawn
from graph import constant, node, tensor, write

SEED = 20
HELD_OUT_SHARE = 0.2
DRAWINGS = 30  # of each shape
CLASSES = 10
SIDE = 8
PIXELS = SIDE * SIDE
INK = 16.0  # the largest pixel value
HIDDEN = 96
EPOCHS = 160
BATCH = 32
STEP = 0.05
MOMENTUM = 0.9
DECAY = 3e-4  # of the weights, for each step, as a share of the step
# Training pulls the true class's margin to +1 and the others to -1; at this temperature the softmax
# of such an image says 0.997, and two classes with equal margins share what there is.
TEMPERATURE = 0.25


@dataclasses.dataclass
class Data:
    images: numpy.ndarray  # [n, 8, 8], 0 to 16
    labels: numpy.ndarray  # [n]


def split(data, rng):
    """Training and held-out images, chosen once by lot."""
    order = rng.permutation(len(data.labels))
    count = int(len(order) * HELD_OUT_SHARE)
    held_out, training = order[:count], order[count:]
    return (
        Data(data.images[training], data.labels[training]),
        Data(data.images[held_out], data.labels[held_out]),
    )


def shifted(images, rng):
    """Half of the images moved by up to one pixel, paper moving in: digits are seldom centred."""
    padded = numpy.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(0, 3, len(images)), rng.integers(0, 3, len(images))
    stay = rng.random(len(images)) < 0.5
    rows[stay], columns[stay] = 1, 1
    return numpy.stack(
        [image[r : r + SIDE, c : c + SIDE] for image, r, c in zip(padded, rows, columns)]
    )


def multiply(left, right):
    return numpy.einsum("ij,jk->ik", left, right, optimize=False)


def layer(inputs, outputs, rng):
    limit = numpy.sqrt(6.0 / (inputs + outputs))
    return [(rng.random((inputs, outputs)) * 2.0 - 1.0) * limit, numpy.zeros(outputs)]


def forward(weights, images):
    """Hidden activations and margins: above 0 where a class is claimed, below where denied."""
    hidden = numpy.maximum(multiply(images, weights[0]) + weights[1], 0.0)
    return hidden, multiply(hidden, weights[2]) + weights[3]


def gradients(weights, images, labels):
    hidden, margins = forward(weights, images)
    target = numpy.where(labels[:, None] == numpy.arange(CLASSES), 1.0, -1.0)
    slope = -2.0 * target * numpy.maximum(1.0 - target * margins, 0.0) / len(labels)
    slope_hidden = multiply(slope, weights[2].T) * (hidden > 0.0)
    return [
        numpy.einsum("ij,ik->jk", images, slope_hidden, optimize=False),
        numpy.einsum("ij->j", slope_hidden),
        numpy.einsum("ij,ik->jk", hidden, slope, optimize=False),
        numpy.einsum("ij->j", slope),
    ]


def train(data, rng):
    weights = layer(PIXELS, HIDDEN, rng) + layer(HIDDEN, CLASSES, rng)
    speeds = [numpy.zeros_like(w) for w in weights]
    for epoch in range(EPOCHS):
        step = STEP * (1.0 - epoch / EPOCHS)
        images = shifted(data.images, rng).reshape(-1, PIXELS) / INK
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            slopes = gradients(weights, images[rows], data.labels[rows])
            for w, speed, slope in zip(weights, speeds, slopes):
                speed *= MOMENTUM
                speed -= step * (slope + DECAY * w)
                w += speed
    return weights


def write_model(path, weights):
    """The pixel scale and the temperature are folded into the two layers."""
    folded = [weights[0] / INK, weights[1], weights[2] / TEMPERATURE, weights[3] / TEMPERATURE]
    names = ("hidden.weight", "hidden.bias", "scores.weight", "scores.bias")
    return write(
        path,
        "digits",
        [
            node("Flatten", ["image"], ["pixels"], axis=1),
            node("Gemm", ["pixels", "hidden.weight", "hidden.bias"], ["hidden"]),
            node("Relu", ["hidden"], ["active"]),
            node("Gemm", ["active", "scores.weight", "scores.bias"], ["logits"]),
            node("Softmax", ["logits"], ["scores"], axis=1),
        ],
        [tensor("image", "FP32", ["batch", SIDE, SIDE])],
        [tensor("scores", "FP32", ["batch", CLASSES])],
        [
            constant(name, "FP32", list(w.shape), numpy.ascontiguousarray(w, dtype="<f4"))
            for name, w in zip(names, folded)
        ],
    )


def write_held_out(path, data):
    """One image a line: its digit, then its 64 pixels row by row."""
    lines = [
        ",".join(str(int(v)) for v in [label, *image.ravel()])
        for image, label in zip(data.images, data.labels)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def accuracy(weights, data):
    margins = forward(weights, data.images.reshape(-1, PIXELS) / INK)[1]
    return float((margins.argmax(axis=1) == data.labels).mean())


def write_all(model_folder, data_folder):
    digits = load_digits()
    rng = numpy.random.Generator(numpy.random.PCG64(SEED))
    training, held_out = split(Data(digits.images, digits.target), rng)
    images, labels = drawn.draw(DRAWINGS, rng)
    every = Data(
        numpy.concatenate([training.images, images]), numpy.concatenate([training.labels, labels])
    )
    weights = train(every, rng)
    size = write_model(model_folder / "digits" / "1" / "model.onnx", weights)
    write_held_out(data_folder / "digits.csv", held_out)
    print(
        f"digits: {len(training.labels)} training images and {len(labels)} drawings, "
        f"accuracy {accuracy(weights, every):.4f}; {len(held_out.labels)} held out, "
        f"accuracy {accuracy(weights, held_out):.4f}; {size} bytes"
    )
