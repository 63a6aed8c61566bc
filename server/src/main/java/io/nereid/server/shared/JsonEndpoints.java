package io.nereid.server.shared;

import io.nereid.JsonEndpoint;
import io.nereid.types.NereidException;
import io.nereid.types.StatusCode;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;

/** The endpoints that the class path adds to those of the protocol. Any thread may call. */
public final class JsonEndpoints {

  private static final Map<String, JsonEndpoint> BY_PATH = find();

  private JsonEndpoints() {}

  private static Map<String, JsonEndpoint> find() {
    Map<String, JsonEndpoint> found = new LinkedHashMap<>();
    for (JsonEndpoint endpoint : ServiceLoader.load(JsonEndpoint.class)) {
      JsonEndpoint other = found.put(endpoint.path(), endpoint);
      if (other != null) {
        throw new NereidException(
            StatusCode.ALREADY_EXISTS,
            "expected one endpoint on the class path for "
                + endpoint.path()
                + ", got "
                + other.getClass().getName()
                + " and "
                + endpoint.getClass().getName());
      }
    }
    return Collections.unmodifiableMap(found);
  }

  /** All endpoints. */
  public static Collection<JsonEndpoint> all() {
    return BY_PATH.values();
  }

  /** The endpoint at a path; null: none. */
  public static JsonEndpoint at(String path) {
    return BY_PATH.get(path);
  }
}
