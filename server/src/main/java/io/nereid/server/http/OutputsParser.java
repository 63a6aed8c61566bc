package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.server.memory.RequestSlices;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Reads which outputs a request wants, and in which form. */
final class OutputsParser {

  private final InferRequest request;
  private final RequestedOutputs outputs;
  private final RequestSlices slices;

  OutputsParser(InferRequest request, RequestedOutputs outputs, RequestSlices slices) {
    this.request = request;
    this.outputs = outputs;
    this.slices = slices;
  }

  /** Reads the array that the parser is at. */
  void read(JsonParser parser) {
    JsonParsing.expectArray(parser, "outputs");
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      JsonParsing.expectObject(parser, "outputs");
      readOutput(parser);
    }
  }

  private void readOutput(JsonParser parser) {
    String output = null;
    RequestedOutput wanted = RequestedOutput.PLAIN;
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "name" -> output = JsonParsing.string(parser, "name");
        case "parameters" -> wanted = readParameters(parser);
        default -> parser.skipChildren();
      }
    }
    if (output == null) {
      throw JsonParsing.missing("name");
    }
    request.output(output);
    if (wanted != RequestedOutput.PLAIN) {
      outputs.put(output, wanted);
    }
  }

  private RequestedOutput readParameters(JsonParser parser) {
    JsonParsing.expectObject(parser, "parameters");
    Boolean binary = null;
    boolean classification = false;
    RegionParameters region = new RegionParameters();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "binary_data" -> binary = JsonParsing.bool(parser, "binary_data");
        case "classification" -> classification = JsonParsing.unsigned(parser, name) > 0;
        default -> {
          if (!region.take(name, parser)) {
            parser.skipChildren();
          }
        }
      }
    }
    if (!region.isGiven()) {
      if (classification) {
        throw new HttpFailure(Status.NOT_IMPLEMENTED, "classification is not supported");
      }
      return new RequestedOutput(binary, null);
    }
    region.checkComplete();
    if (classification) {
      throw both("classification");
    }
    if (binary != null && binary) { // stock clients say false here
      throw both("binary_data");
    }
    return new RequestedOutput(binary, region.open(slices));
  }

  private static HttpFailure both(String other) {
    return HttpFailure.badRequest(
        "Output can't set both 'shared_memory_region' and '" + other + "'");
  }
}
