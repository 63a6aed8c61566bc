package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.Classification;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The outputs that a request wants, and their forms; reads them from the request, and is constant
 * after that.
 */
final class WantedOutputs {

  /**
   * The wanted form of one output.
   *
   * @param binary whether it goes behind the JSON part; null: as the request's default
   * @param classification replaces the tensor; null: none
   * @param slice the place in shared memory; null: it goes into the reply
   */
  record WantedOutput(Boolean binary, Classification classification, RegionSlice slice) {

    /** The form of an output without parameters. */
    private static final WantedOutput PLAIN = new WantedOutput(null, null, null);
  }

  /** The requested names, in order; empty: all outputs. */
  private List<String> names = List.of();

  /** The form of outputs that the request does not mention. */
  private boolean binaryByDefault;

  /** True if the forms depend on neither the model nor the server's state. */
  private boolean plain = true;

  /** The wanted form of each output, by name; mostly empty or of one. */
  private Map<String, WantedOutput> outputs = Map.of();

  private void add(String output) {
    if (names.isEmpty()) {
      names = new ArrayList<>(2);
    }
    names.add(output);
  }

  /** Asks for the outputs in a request. */
  void select(InferRequest request) {
    for (int i = 0; i < names.size(); i++) {
      request.output(names.get(i));
    }
  }

  void binaryByDefault(boolean value) {
    binaryByDefault = value;
  }

  private void put(String output, WantedOutput wanted) {
    plain &= wanted.classification() == null && wanted.slice() == null;
    if (outputs.isEmpty()) {
      outputs = new HashMap<>();
    }
    outputs.put(output, wanted);
  }

  WantedOutput of(String output) {
    return outputs.getOrDefault(output, WantedOutput.PLAIN);
  }

  boolean isPlain() {
    return plain;
  }

  boolean isBinary(WantedOutput wanted) {
    return wanted.binary() == null ? binaryByDefault : wanted.binary();
  }

  // ---- Reading ---------------------------------------------------------------------------------

  /** Reads the array that the parser is at. */
  void read(JsonReader parser, Model model, InferRequest request, RequestSlices slices) {
    parser.expectArray("outputs");
    while (parser.next() != Token.END_ARRAY) {
      parser.expectObject("outputs");
      readOutput(parser, model, request, slices);
    }
  }

  private void readOutput(
      JsonReader parser, Model model, InferRequest request, RequestSlices slices) {
    String output = null;
    Form form = null;
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "name" -> output = parser.name("name");
        case "parameters" -> form = readParameters(parser);
        default -> parser.skip();
      }
    }
    if (output == null) {
      throw JsonException.missing("name");
    }
    request.output(output);
    add(output);
    if (form != null) {
      put(output, form.of(output, model, request, slices));
    }
  }

  private static Form readParameters(JsonReader parser) {
    parser.expectObject("parameters");
    Form form = new Form();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "binary_data" -> form.binary = parser.bool("binary_data");
        case "classification" -> form.classCount = parser.unsigned(name);
        default -> {
          if (!form.region.take(name, parser)) {
            parser.skip();
          }
        }
      }
    }
    return form;
  }

  /** The parameters of one output. */
  private static final class Form {
    private final RequestParameters.RegionParameters region =
        new RequestParameters.RegionParameters();
    private Boolean binary;
    private long classCount; // 0: no classification; clients may send 0 too

    /** The wanted form for an output of the model. */
    WantedOutput of(String output, Model model, InferRequest request, RequestSlices slices) {
      if (!region.isGiven()) {
        return new WantedOutput(
            binary,
            classCount == 0 ? null : Classification.of(model.spec(), output, classCount),
            null);
      }
      region.checkComplete();
      if (classCount != 0) {
        throw both("classification");
      }
      if (binary != null && binary) { // stock clients send false
        throw both("binary_data");
      }
      RegionSlice slice = region.open(slices);
      slice.lend(request, output);
      return new WantedOutput(binary, null, slice);
    }
  }

  private static HttpFailure both(String other) {
    return HttpFailure.badRequest(
        "Output can't set both 'shared_memory_region' and '" + other + "'");
  }
}
