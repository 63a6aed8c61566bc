package io.nereid.perf;

/** How tensors travel. */
enum TensorForm {
  JSON,
  BINARY,
  SHM
}
