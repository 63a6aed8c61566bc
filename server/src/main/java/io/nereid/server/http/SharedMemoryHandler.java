package io.nereid.server.http;

import io.nereid.server.json.JsonBuffer;
import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.memory.CudaRegions;
import io.nereid.server.memory.Region.CudaRegion;
import io.nereid.server.memory.Region.SystemRegion;
import io.nereid.server.memory.SharedMemoryRegions;
import java.io.IOException;
import java.util.Base64;
import java.util.List;

/** The shared memory extensions: of the system, and of CUDA. */
final class SharedMemoryHandler {

  private final HttpContext context;

  SharedMemoryHandler(HttpContext context) {
    this.context = context;
  }

  private SharedMemoryRegions regions() {
    return context.state().sharedMemory();
  }

  /** Writes the state of the regions, as an array even for one. */
  void status(Route route, JsonBuffer json) {
    List<SystemRegion> found =
        route.name().isEmpty() ? regions().status() : regions().status(route.name());
    json.write('[');
    boolean first = true;
    for (SystemRegion region : found) {
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
    context.readObject(
        body,
        (name, parser) -> {
          switch (name) {
            case "key" -> key[0] = parser.name(name);
            case "offset" -> offset[0] = parser.unsigned(name);
            case "byte_size" -> byteSize[0] = parser.unsigned(name);
            default -> parser.skip();
          }
        });
    if (key[0] == null) {
      throw JsonException.missing("key");
    }
    if (byteSize[0] < 0) {
      throw JsonException.missing("byte_size");
    }
    regions().register(route.name(), key[0], offset[0], byteSize[0]);
  }

  void unregister(Route route) {
    if (route.name().isEmpty()) {
      regions().unregisterAll();
    } else {
      regions().unregister(route.name());
    }
  }

  // ---- CUDA ------------------------------------------------------------------------------------

  private CudaRegions cuda() {
    return context.state().cudaMemory();
  }

  /** Writes an array, also for one region. */
  void cudaStatus(Route route, JsonBuffer json) {
    List<CudaRegion> found = route.name().isEmpty() ? cuda().status() : cuda().status(route.name());
    json.write('[');
    boolean first = true;
    for (CudaRegion region : found) {
      json.ascii(first ? "{\"name\":" : ",{\"name\":").string(region.name());
      first = false;
      json.ascii(",\"device_id\":").number(region.deviceId());
      json.ascii(",\"byte_size\":").number(region.byteSize()).write('}');
    }
    json.write(']');
  }

  void registerCuda(Route route, RequestBody body) throws IOException {
    cuda().checkEnabled(); // checked before the request's own mistakes
    byte[][] handle = new byte[1][];
    long[] deviceId = {-1};
    long[] byteSize = {-1};
    context.readObject(
        body,
        (name, parser) -> {
          switch (name) {
            case "raw_handle" -> handle[0] = rawHandle(parser);
            case "device_id" -> deviceId[0] = parser.unsigned(name);
            case "byte_size" -> byteSize[0] = parser.unsigned(name);
            default -> parser.skip();
          }
        });
    if (handle[0] == null) {
      throw JsonException.missing("raw_handle");
    }
    if (deviceId[0] < 0) {
      throw JsonException.missing("device_id");
    }
    if (byteSize[0] < 0) {
      throw JsonException.missing("byte_size");
    }
    cuda().register(route.name(), handle[0], deviceId[0], byteSize[0]);
  }

  /** Reads {@code {"b64": "..."}}. */
  private static byte[] rawHandle(JsonReader parser) {
    parser.expectObject("raw_handle");
    String[] text = new String[1];
    parser.readMembers((name, member) -> {
      if (name.equals("b64")) {
        text[0] = member.string(name);
      } else {
        member.skip();
      }
    });
    if (text[0] == null) {
      throw JsonException.missing("b64");
    }
    try {
      return Base64.getDecoder().decode(text[0]);
    } catch (IllegalArgumentException e) {
      throw JsonException.malformed("b64", "expected Base64, got " + e.getMessage());
    }
  }

  void unregisterCuda(Route route) {
    if (route.name().isEmpty()) {
      cuda().unregisterAll();
    } else {
      cuda().unregister(route.name());
    }
  }
}
