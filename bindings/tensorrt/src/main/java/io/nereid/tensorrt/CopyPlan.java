package io.nereid.tensorrt;

/** The ways in which the inputs of a batch get to the device. */
enum CopyPlan {
  /** There is nothing to copy. */
  NONE,
  /** Several small requests: gathered in page-locked memory first, then copied at once. */
  GATHERED,
  /** One request, or several large ones: a copy for each, straight from its input. */
  EACH;

  /**
   * The plan for one input of a batch. A copy to the device costs some microseconds whatever its
   * size, gathering costs time by the byte.
   *
   * @param requestCount requests in the batch
   * @param byteSize of the input in all of them
   * @param threshold bytes per request, from which on each request is copied by itself
   */
  static CopyPlan of(int requestCount, long byteSize, long threshold) {
    if (byteSize == 0) {
      return NONE;
    }
    return requestCount > 1 && byteSize / requestCount < threshold ? GATHERED : EACH;
  }
}
