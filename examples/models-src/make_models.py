#!/usr/bin/env python3
"""Writes the bundled models, the held-out digits and the tests' models; see README.md here."""

import pathlib

import bundled_models
import digits
import test_models
import voice

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    models = ROOT / "examples" / "models"
    bundled_models.write_all(models)
    voice.write_all(models)
    test_models.write_all(ROOT / "native" / "test" / "models")
    digits.write_all(models, ROOT / "examples" / "data")


if __name__ == "__main__":
    main()
