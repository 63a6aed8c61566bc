"""Writes the bundled "voice" model: tells speech from noise and silence, frame by frame.

Three things make a frame of 20 ms speech: it is periodic, as voices are; it is louder than the
noise around; and the loudness went up and down lately, which that of a hum does not. What it has to
know of the frames before, the model keeps in two states, so that there is nothing to train.
"""

import numpy

from graph import constant, node, tensor, write

FRAME = 320  # samples at 16 kHz
STEP = 4  # samples that become one: what a voice's pitch shows in lies far below 2 kHz
SHORT = FRAME // STEP
SHORTEST, LONGEST = 10, 40  # periods in samples at 4 kHz: pitches from 400 Hz down to 100 Hz
COMPARED = 2 * SHORT - LONGEST

# Loudness is the logarithm of the mean square of samples from -1 to 1: 2.3 are 10 dB.
QUIET = -9.0
FLOOR_FALLS, FLOOR_RISES = 0.2, 0.005  # shares of the way to what is heard, for each frame
CHANGE_LASTS = 0.97  # for each frame
SPEECH_RISES, SPEECH_FALLS = 0.5, 0.1
# A sigmoid for each of the three: how steep it is, and where it is one half.
PERIODIC, LOUD, CHANGING = (20.0, 0.5), (2.0, 2.0), (8.0, 0.5)


def numbers():
    """Constants by name."""
    scalars = {
        "least_power": 1e-7,
        "least_product": 1e-8,
        "zero": 0.0,
        "floor_falls": FLOOR_FALLS,
        "floor_rises": FLOOR_RISES,
        "change_lasts": CHANGE_LASTS,
        "speech_rises": SPEECH_RISES,
        "speech_falls": SPEECH_FALLS,
    }
    for name, (slope, half) in (("periodic", PERIODIC), ("loud", LOUD), ("changing", CHANGING)):
        scalars[name + "_slope"], scalars[name + "_half"] = slope, half
    return [constant(name, "FP32", [], [value]) for name, value in scalars.items()]


def shapes():
    """Constants that say which samples are meant."""
    lags = numpy.arange(SHORTEST, LONGEST + 1)[:, None] + numpy.arange(COMPARED)[None, :]
    return [
        constant("steps", "INT64", [3], [0, SHORT, STEP]),
        constant("lags", "INT32", list(lags.shape), lags.astype("<i4")),
        constant("compared", "INT32", [1, COMPARED], numpy.arange(COMPARED, dtype="<i4")),
        constant("last_axis", "INT64", [1], [-1]),
    ]


def listen():
    """The last two frames at 4 kHz, around zero."""
    return [
        node("Reshape", ["AUDIO", "steps"], ["in_steps"]),
        node("ReduceMean", ["in_steps"], ["NEXT_FRAME"], axes=[2], keepdims=0),
        node("Concat", ["LAST_FRAME", "NEXT_FRAME"], ["both"], axis=1),
        node("ReduceMean", ["both"], ["offset"], axes=[1]),
        node("Sub", ["both", "offset"], ["sound"]),
    ]


def periodicity():
    """How much the sound is like itself a period ago, at the period where it is most: up to 1."""
    return [
        node("Gather", ["sound", "compared"], ["early"], axis=1),
        node("Gather", ["sound", "lags"], ["late"], axis=1),
        node("Mul", ["early", "late"], ["products"]),
        node("ReduceSum", ["products", "last_axis"], ["alike"], keepdims=0),
        node("Mul", ["early", "early"], ["early_squares"]),
        node("Mul", ["late", "late"], ["late_squares"]),
        node("ReduceSum", ["early_squares", "last_axis"], ["early_power"], keepdims=0),
        node("ReduceSum", ["late_squares", "last_axis"], ["late_power"], keepdims=0),
        node("Mul", ["early_power", "late_power"], ["powers"]),
        node("Add", ["powers", "least_product"], ["some_powers"]),
        node("Sqrt", ["some_powers"], ["most"]),
        node("Div", ["alike", "most"], ["likeness"]),
        node("ReduceMax", ["likeness"], ["periodicity"], axes=[1]),
    ]


def toward(name, before, target, rises, falls):
    """A value that follows another, faster in one direction than in the other."""
    way, share = name + "_way", name + "_share"
    return [
        node("Sub", [target, before], [way]),
        node("Greater", [way, "zero"], [name + "_up"]),
        node("Where", [name + "_up", rises, falls], [share]),
        node("Mul", [way, share], [name + "_moved"]),
        node("Add", [before, name + "_moved"], [name]),
    ]


def loudness():
    """How far above the noise the sound is, and how it changed of late."""
    return [
        node("Split", ["MEMORY"], ["floor_before", "level_before", "change_before", "before"], axis=1),
        node("Mul", ["sound", "sound"], ["squares"]),
        node("ReduceMean", ["squares"], ["power"], axes=[1]),
        node("Add", ["power", "least_power"], ["some_power"]),
        node("Log", ["some_power"], ["level"]),
        *toward("floor", "floor_before", "level", "floor_rises", "floor_falls"),
        node("Sub", ["level", "level_before"], ["difference"]),
        node("Abs", ["difference"], ["change_now"]),
        node("Mul", ["change_before", "change_lasts"], ["change_kept"]),
        node("Max", ["change_now", "change_kept"], ["change"]),
    ]


def judged(name, value):
    return [
        node("Sub", [value, name + "_half"], [name + "_above"]),
        node("Mul", [name + "_above", name + "_slope"], [name + "_steep"]),
        node("Sigmoid", [name + "_steep"], [name]),
    ]


def judge():
    return [
        *judged("periodic", "periodicity"),
        *judged("loud", "floor_way"),
        *judged("changing", "change"),
        node("Mul", ["periodic", "loud"], ["audible"]),
        node("Mul", ["audible", "changing"], ["now"]),
        *toward("SPEECH", "before", "now", "speech_rises", "speech_falls"),
        node("Concat", ["floor", "level", "change", "SPEECH"], ["NEXT_MEMORY"], axis=1),
    ]


def write_all(folder):
    write(
        folder / "voice" / "1" / "model.onnx",
        "voice",
        [*listen(), *periodicity(), *loudness(), *judge()],
        [
            tensor("AUDIO", "FP32", ["batch", FRAME]),
            tensor("LAST_FRAME", "FP32", ["batch", SHORT]),
            tensor("MEMORY", "FP32", ["batch", 4]),
        ],
        [
            tensor("SPEECH", "FP32", ["batch", 1]),
            tensor("NEXT_FRAME", "FP32", ["batch", SHORT]),
            tensor("NEXT_MEMORY", "FP32", ["batch", 4]),
        ],
        [*numbers(), *shapes()],
    )
    memory = folder / "voice" / "initial_state" / "memory"
    memory.parent.mkdir(exist_ok=True)
    memory.write_bytes(numpy.array([QUIET, QUIET, 0.0, 0.0], dtype="<f4").tobytes())
