package io.nereid.server.http;

import io.nereid.server.memory.SharedMemoryRegion;
import io.nereid.server.memory.SharedMemoryRegions;
import java.io.IOException;
import java.util.List;

/** The shared memory extensions: of the system, and of CUDA, of which there is none so far. */
final class SharedMemoryHandler {

  private final HttpContext context;

  SharedMemoryHandler(HttpContext context) {
    this.context = context;
  }

  private SharedMemoryRegions regions() {
    return context.state().sharedMemory();
  }

  /** Writes an array, also for one region. */
  void status(Route route, JsonBuffer json) {
    List<SharedMemoryRegion> found =
        route.region().isEmpty() ? regions().status() : regions().status(route.region());
    json.write('[');
    boolean first = true;
    for (SharedMemoryRegion region : found) {
      json.ascii(first ? "{\"name\":" : ",{\"name\":").string(region.name());
      first = false;
      json.ascii(",\"key\":").string(region.key());
      json.ascii(",\"offset\":").number(region.offset());
      json.ascii(",\"byte_size\":").number(region.byteSize()).write('}');
    }
    json.write(']');
  }

  void register(Route route, RequestBody body) throws IOException {
    String[] key = new String[1];
    long[] offset = new long[1];
    long[] byteSize = {-1};
    JsonBody.read(
        context,
        body,
        (name, parser) -> {
          switch (name) {
            case "key" -> key[0] = parser.string(name);
            case "offset" -> offset[0] = parser.unsigned(name);
            case "byte_size" -> byteSize[0] = parser.unsigned(name);
            default -> parser.skip();
          }
        });
    if (key[0] == null) {
      throw JsonParsing.missing("key");
    }
    if (byteSize[0] < 0) {
      throw JsonParsing.missing("byte_size");
    }
    regions().register(route.region(), key[0], offset[0], byteSize[0]);
  }

  void unregister(Route route) {
    if (route.region().isEmpty()) {
      regions().unregisterAll();
    } else {
      regions().unregister(route.region());
    }
  }

  static HttpFailure noCuda() {
    return new HttpFailure(
        Status.NOT_IMPLEMENTED,
        "CUDA shared memory is not supported: expected system shared memory");
  }
}
