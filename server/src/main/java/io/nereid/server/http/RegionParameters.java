package io.nereid.server.http;

import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;

/** What the parameters of a tensor say about shared memory, in whatever order they say it. */
final class RegionParameters {

  private static final long NOT_GIVEN = -1;

  private String region;
  private long byteSize = NOT_GIVEN;
  private long offset = NOT_GIVEN;

  /** Takes the parameter that the parser is at; false when it is another one's. */
  boolean take(String name, JsonReader parser) {
    switch (name) {
      case "shared_memory_region" -> region = parser.string(name);
      case "shared_memory_byte_size" -> byteSize = parser.unsigned(name);
      case "shared_memory_offset" -> offset = parser.unsigned(name);
      default -> {
        return false;
      }
    }
    return true;
  }

  boolean isGiven() {
    return region != null || byteSize != NOT_GIVEN || offset != NOT_GIVEN;
  }

  long byteSize() {
    return byteSize;
  }

  /** Fails when a part is missing; there is something given. */
  void checkComplete() {
    if (region == null) {
      throw JsonParsing.missing("shared_memory_region");
    }
    if (byteSize == NOT_GIVEN) {
      throw JsonParsing.missing("shared_memory_byte_size");
    }
  }

  RegionSlice open(RequestSlices slices) {
    return slices.open(region, offset == NOT_GIVEN ? 0 : offset, byteSize);
  }
}
