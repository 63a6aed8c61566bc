package io.nereid.tensorrt.builder;

/** A type of numbers that an engine may compute with, beside FP32. */
public enum Precision {
  /** Half precision. */
  FP16,
  /** Brain floating point, from compute capability 8.0 on. */
  BF16,
  /** 8-bit integers, where the network has nodes that quantize and dequantize. */
  INT8,
  /** 8-bit floating point, where the network has nodes that quantize, from 8.9 on. */
  FP8
}
