package io.nereid.server.http;

import io.nereid.server.http.Route.Endpoint;
import io.nereid.server.shared.HeaderForwarding;
import io.nereid.server.wire.HttpFailure;
import io.nereid.server.wire.RequestHead;
import io.nereid.server.wire.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The head of a request for an endpoint: where its path leads, and the fields that matter there.
 */
final class ProtocolHead extends RequestHead {

  /** Longest request id that is taken and sent back. */
  static final int MAX_REQUEST_ID_LENGTH = 128;

  private final KeptFields keptFields;
  private final Function<String, Route> routes;
  private Route route = Route.UNKNOWN;
  private String inferenceHeaderLength;
  private String traceparent;
  private String tracestate;
  private String requestId;
  private String loadFormat;
  private Map<String, String> kept = Map.of();
  private List<HeaderForwarding.Field> forwarded = List.of();

  /** To be filled in; {@code routes} says where a target leads. */
  ProtocolHead(KeptFields keptFields, Function<String, Route> routes) {
    this.keptFields = keptFields;
    this.routes = routes;
  }

  @Override
  protected void begin(String method, String target, boolean http10) {
    super.begin(method, target, http10);
    route = routes.apply(target);
  }

  /** Where the path leads. */
  Route route() {
    return route;
  }

  /** The value of Inference-Header-Content-Length; null when it is absent. */
  String inferenceHeaderLength() {
    return inferenceHeaderLength;
  }

  /** The parent of W3C's Trace Context; null when it is absent, empty when it came twice. */
  String traceparent() {
    return traceparent;
  }

  String tracestate() {
    return tracestate;
  }

  /** The value of X-Request-Id; null when it is absent, or not fit to be sent back. */
  String requestId() {
    return requestId;
  }

  /** In which format the reply is to tell the server's load; null when it is not to. */
  String loadFormat() {
    return loadFormat;
  }

  /** The value of one of the {@link KeptFields}, by its name in lower case; null when absent. */
  String kept(String name) {
    return kept.get(name);
  }

  /** The fields that become parameters, in their order. */
  List<HeaderForwarding.Field> forwarded() {
    return forwarded;
  }

  @Override
  protected void field(byte[] bytes, int name, int nameLength, int valueFrom, int valueTo) {
    super.field(bytes, name, nameLength, valueFrom, valueTo);
    switch (nameLength) {
      case 10 -> {
        if (is(bytes, name, "tracestate")) {
          String value = text(bytes, valueFrom, valueTo);
          tracestate = tracestate == null ? value : tracestate + "," + value;
        }
      }
      case 11 -> {
        if (is(bytes, name, "traceparent")) {
          traceparent = traceparent == null ? text(bytes, valueFrom, valueTo) : "";
        }
      }
      case 12 -> {
        if (is(bytes, name, "x-request-id")) {
          requestId(text(bytes, valueFrom, valueTo));
        }
      }
      case 28 -> {
        if (is(bytes, name, "endpoint-load-metrics-format")) {
          loadFormat = text(bytes, valueFrom, valueTo);
        }
      }
      case 31 -> {
        if (is(bytes, name, "inference-header-content-length")) {
          inferenceHeader(text(bytes, valueFrom, valueTo));
        }
      }
      default -> {}
    }
    keep(bytes, name, nameLength, valueFrom, valueTo);
  }

  private void requestId(String value) {
    if (!value.isEmpty()
        && value.length() <= MAX_REQUEST_ID_LENGTH
        && value.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      requestId = value;
    }
  }

  private void inferenceHeader(String value) {
    if (inferenceHeaderLength != null && !inferenceHeaderLength.equals(value)) {
      throw HttpFailure.closing(
          Status.BAD_REQUEST,
          "expected one Inference-Header-Content-Length, got "
              + inferenceHeaderLength
              + " and "
              + value);
    }
    inferenceHeaderLength = value;
  }

  private void keep(byte[] bytes, int name, int nameLength, int valueFrom, int valueTo) {
    String keptName = keptFields.find(route.endpoint(), bytes, name, nameLength);
    if (keptName != null) {
      if (kept.isEmpty()) {
        kept = new HashMap<>();
      }
      // Several of a name are one, which is then another.
      kept.merge(keptName, text(bytes, valueFrom, valueTo), (one, other) -> one + "," + other);
    }
    String parameter = keptFields.findForwarded(bytes, name, nameLength);
    if (parameter != null) {
      if (forwarded.isEmpty()) {
        forwarded = new ArrayList<>();
      }
      forwarded.add(new HeaderForwarding.Field(parameter, text(bytes, valueFrom, valueTo)));
    }
  }

  /**
   * Header fields whose values a request keeps for others than the protocol: those of certain
   * names, and those that become parameters. One for all connections.
   */
  static final class KeptFields {

    /** None. */
    static final KeptFields NONE = of(Set.of(), Set.of(), Optional.empty());

    private final byte[][] always; // in lower case
    private final byte[][] ofChanges; // these among them
    private final HeaderForwarding forwarding; // null: no field becomes a parameter

    private KeptFields(byte[][] always, byte[][] ofChanges, HeaderForwarding forwarding) {
      this.always = always;
      this.ofChanges = ofChanges;
      this.forwarding = forwarding;
    }

    /**
     * With names in lower case.
     *
     * @param always kept of every request
     * @param ofChanges kept beside those, of requests for an {@link Endpoint#isChange}
     * @param forwarding which fields become parameters; empty: none
     */
    static KeptFields of(
        Set<String> always, Set<String> ofChanges, Optional<HeaderForwarding> forwarding) {
      Set<String> all = new HashSet<>(always);
      all.addAll(ofChanges);
      return new KeptFields(bytes(always), bytes(all), forwarding.orElse(null));
    }

    private static byte[][] bytes(Set<String> names) {
      return names.stream()
          .map(name -> name.getBytes(StandardCharsets.ISO_8859_1))
          .toArray(byte[][]::new);
    }

    /** The name of a field that becomes a parameter, as it was sent; null when it does not. */
    private String findForwarded(byte[] bytes, int offset, int length) {
      if (forwarding == null) {
        return null;
      }
      String name = new String(bytes, offset, length, StandardCharsets.ISO_8859_1);
      return forwarding.matches(name) ? name : null;
    }

    /**
     * The field of that name, in whatever case, in lower case; null when it is not kept of a
     * request for that.
     */
    private String find(Endpoint endpoint, byte[] bytes, int offset, int length) {
      for (byte[] name : endpoint.isChange() ? ofChanges : always) {
        if (name.length == length && is(bytes, offset, name)) {
          return new String(name, StandardCharsets.ISO_8859_1);
        }
      }
      return null;
    }
  }
}
