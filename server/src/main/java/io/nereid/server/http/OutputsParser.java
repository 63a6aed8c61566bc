package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.server.http.JsonReader.Token;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.server.shared.Classification;

/** Reads which outputs a request wants, and in which form. */
final class OutputsParser {

  private final Model model;
  private final InferRequest request;
  private final RequestedOutputs outputs;
  private final RequestSlices slices;

  OutputsParser(Model model, InferRequest request, RequestedOutputs outputs, RequestSlices slices) {
    this.model = model;
    this.request = request;
    this.outputs = outputs;
    this.slices = slices;
  }

  /** Reads the array that the parser is at. */
  void read(JsonReader parser) {
    parser.expectArray("outputs");
    while (parser.next() != Token.END_ARRAY) {
      parser.expectObject("outputs");
      readOutput(parser);
    }
  }

  private void readOutput(JsonReader parser) {
    String output = null;
    Form form = null;
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "name" -> output = parser.string("name");
        case "parameters" -> form = readParameters(parser);
        default -> parser.skip();
      }
    }
    if (output == null) {
      throw JsonParsing.missing("name");
    }
    request.output(output);
    outputs.add(output);
    if (form != null) {
      outputs.put(output, form.of(output));
    }
  }

  private Form readParameters(JsonReader parser) {
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

  /** What the parameters of one output say. */
  private final class Form {
    private final RegionParameters region = new RegionParameters();
    private Boolean binary;
    private long classCount; // 0: not to be classified, which clients may also say

    /** The same for an output that the model has. */
    RequestedOutput of(String output) {
      if (!region.isGiven()) {
        return new RequestedOutput(
            binary,
            classCount == 0 ? null : Classification.of(model.spec(), output, classCount),
            null);
      }
      region.checkComplete();
      if (classCount != 0) {
        throw both("classification");
      }
      if (binary != null && binary) { // stock clients say false here
        throw both("binary_data");
      }
      RegionSlice slice = region.open(slices);
      slice.lend(request, output);
      return new RequestedOutput(binary, null, slice);
    }
  }

  private static HttpFailure both(String other) {
    return HttpFailure.badRequest(
        "Output can't set both 'shared_memory_region' and '" + other + "'");
  }
}
