"""Draws plain digits as a mouse does: strokes with a round pen, bent and moved a little by lot.

The handwritten digits of the data have no seven without a bar and hardly a one of a single stroke.
Only sums, products and square roots are used, whose results are the same on every machine.
"""

import numpy

SIDE = 8
FINE = 4  # how finely a pixel is looked at, in both directions
LEVELS = 16  # the data's pixels are whole numbers up to this
STEPS = 6  # lines between two points of a curve
BEND = 0.05  # how far each point may go, as a part of the digit's height
SLANT = 0.3
ASPECT = (0.55, 1.2)
PENS = (0.11, 0.2)  # as parts of the digit's height

# Curves go through all points, lines with corners are marked by a point that is there twice.
SHAPES = (
    (0, [[(5, 0), (2, 2), (1, 5), (2, 8), (5, 10), (8, 8), (9, 5), (8, 2), (5, 0)]]),
    (0, [[(6, 0), (3, 1), (2, 5), (3, 9), (5, 10), (7, 9), (8, 5), (7, 1), (4, 0)]]),
    (1, [[(5, 0), (5, 5), (5, 10)]]),
    (1, [[(3, 3), (3, 3), (6, 0), (6, 0), (6, 10)]]),
    (1, [[(4, 2), (4, 2), (5, 0), (5, 0), (5, 10)]]),
    (1, [[(3, 2), (3, 2), (5, 0), (5, 0), (5, 10)], [(3, 10), (7, 10)]]),
    (2, [[(2, 3), (3, 1), (5, 0), (7, 1), (7, 4), (5, 7), (2, 10), (2, 10), (8, 10)]]),
    (2, [[(2, 2), (5, 0), (8, 2), (6, 5), (2, 9), (3, 8), (5, 9), (8, 10)]]),
    (3, [[(2, 1), (5, 0), (8, 2), (7, 4), (5, 5), (5, 5), (7, 6), (8, 8), (5, 10), (2, 9)]]),
    (3, [[(2, 0), (2, 0), (8, 0), (8, 0), (5, 4), (5, 4), (8, 6), (8, 8), (5, 10), (2, 9)]]),
    (4, [[(4, 0), (4, 0), (2, 6), (2, 6), (9, 6)], [(7, 3), (7, 10)]]),
    (4, [[(2, 0), (2, 0), (2, 5), (2, 5), (8, 5)], [(8, 0), (8, 10)]]),
    (4, [[(3, 0), (3, 0), (1, 7), (1, 7), (9, 7)], [(6, 4), (6, 4), (6, 10)]]),
    (4, [[(6, 10), (6, 10), (6, 0), (6, 0), (1, 7), (1, 7), (9, 7)]]),
    (5, [[(8, 0), (8, 0), (3, 0), (3, 0), (2, 5), (2, 5), (5, 4), (8, 5), (8, 8), (5, 10), (2, 9)]]),
    (5, [[(3, 0), (3, 0), (2, 4), (2, 4), (6, 4), (8, 7), (6, 10), (2, 10)], [(3, 0), (8, 0)]]),
    (6, [[(7, 0), (4, 2), (2, 6), (3, 9), (5, 10), (8, 9), (8, 6), (5, 5), (2, 7)]]),
    (6, [[(5, 0), (3, 3), (2, 7), (4, 10), (7, 9), (7, 6), (4, 6), (2, 8)]]),
    (7, [[(2, 0), (2, 0), (8, 0), (8, 0), (4, 10)]]),
    (7, [[(1, 0), (1, 0), (8, 0), (8, 0), (6, 4), (4, 10)]]),
    (7, [[(2, 2), (2, 2), (2, 0), (2, 0), (8, 0), (8, 0), (5, 10)]]),
    (7, [[(2, 0), (2, 0), (8, 0), (8, 0), (4, 10)], [(3, 5), (8, 5)]]),
    (8, [[(7, 2), (5, 0), (3, 2), (4, 4), (6, 6), (8, 8), (5, 10), (2, 8), (4, 6), (6, 4), (7, 2)]]),
    (8, [[(5, 5), (3, 2), (5, 0), (7, 2), (5, 5), (3, 8), (5, 10), (7, 8), (5, 5)]]),
    (8, [[(5, 5), (2, 3), (5, 0), (8, 3), (5, 5), (5, 5), (8, 8), (5, 10), (2, 8), (5, 5)]]),
    (9, [[(8, 3), (7, 1), (4, 0), (2, 2), (3, 5), (6, 5), (8, 2), (8, 2), (8, 6), (6, 10)]]),
    (9, [[(8, 2), (5, 0), (2, 2), (4, 5), (8, 3), (8, 3), (8, 10)]]),
    (9, [[(7, 3), (5, 0), (2, 3), (5, 5), (7, 2), (7, 7), (5, 10), (2, 9)]]),
)


def curve(points):
    """Points on a spline through the given ones (Catmull-Rom's)."""
    around = numpy.concatenate([points[:1], points, points[-1:]])
    steps = (numpy.arange(STEPS) / STEPS)[:, None]
    pieces = []
    for a, b, c, d in zip(around, around[1:], around[2:], around[3:]):
        once, twice = c - a, 2.0 * a - 5.0 * b + 4.0 * c - d
        thrice = 3.0 * (b - c) + d - a
        pieces.append(b + 0.5 * steps * (once + steps * (twice + steps * thrice)))
    return numpy.concatenate([*pieces, points[-1:]])


def bent(strokes, rng):
    """The strokes with each point moved, all slanted, and made narrower or wider."""
    slant = (rng.random() * 2.0 - 1.0) * SLANT
    aspect = ASPECT[0] + rng.random() * (ASPECT[1] - ASPECT[0])
    lines = []
    for stroke in strokes:
        points = numpy.array(stroke) / 10.0
        moves = (rng.random(points.shape) * 2.0 - 1.0) * BEND
        twice = (points[1:] == points[:-1]).all(axis=1)
        moves[1:][twice] = moves[:-1][twice]
        line = curve(points + moves)
        lines.append(numpy.stack([line[:, 0] * aspect - slant * line[:, 1], line[:, 1]], axis=1))
    return lines


def image(lines, pen):
    """The lines with their box in the middle and as large as goes, as pixels of 0 to 16."""
    size = SIDE * FINE
    every = numpy.concatenate(lines)
    low, high = every.min(axis=0), every.max(axis=0)
    scale = ((1.0 - pen) * size / numpy.maximum(high - low, 0.001)).min()
    width = pen * size
    spots = (numpy.arange(size) + 0.5 - size / 2.0)[None, :]
    ink = numpy.zeros((size, size), dtype=bool)
    for line in lines:
        points = (line - (low + high) / 2.0) * scale
        starts, ways = points[:-1, :, None, None], (points[1:] - points[:-1])[:, :, None, None]
        x, y = spots[None] - starts[:, 0], spots.T[None] - starts[:, 1]
        length = numpy.maximum(ways[:, 0] * ways[:, 0] + ways[:, 1] * ways[:, 1], 1e-9)
        along = numpy.clip((x * ways[:, 0] + y * ways[:, 1]) / length, 0.0, 1.0)
        x, y = x - along * ways[:, 0], y - along * ways[:, 1]
        ink |= (x * x + y * y <= width * width / 4.0).any(axis=0)
    covered = ink.reshape(SIDE, FINE, SIDE, FINE).sum(axis=(1, 3))
    return numpy.rint(covered * (LEVELS / (FINE * FINE)))


def draw(count, rng):
    """So many drawings of each shape: images [n, 8, 8] and what they show."""
    images, labels = [], []
    for digit, strokes in SHAPES:
        for _ in range(count):
            pen = PENS[0] + rng.random() * (PENS[1] - PENS[0])
            images.append(image(bent(strokes, rng), pen))
            labels.append(digit)
    return numpy.stack(images), numpy.array(labels)
