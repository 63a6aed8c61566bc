package io.nereid.server.http;

import io.nereid.DataType;
import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.Tensor;
import io.nereid.TensorSpec;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Fills in one request from the JSON part of a body and what follows it. Elements go from the
 * parser, and binary tensors from the socket, straight into the request's memory.
 */
final class InferRequestParser {

  private static final String RESERVED = "triton_";

  private final JsonFactory json;
  private final HttpLimits limits;
  private final Model model;
  private final List<TensorSpec> specs;
  private final InferRequest request;
  private final RequestedOutputs outputs;
  private final RequestSlices slices;

  /** Inputs whose elements follow the JSON part, in their order. */
  private final List<BinaryInput> binaryInputs = new ArrayList<>(2);

  private boolean hasInputs;
  private String id = "";

  private record BinaryInput(String name, Tensor tensor) {}

  InferRequestParser(
      JsonFactory json,
      HttpLimits limits,
      Model model,
      InferRequest request,
      RequestedOutputs outputs,
      RequestSlices slices) {
    this.json = json;
    this.limits = limits;
    this.model = model;
    this.specs = model.spec().inputs();
    this.request = request;
    this.outputs = outputs;
    this.slices = slices;
  }

  /** What the request calls itself; empty: nothing, or nothing so far. */
  String id() {
    return id;
  }

  /**
   * Reads the whole body.
   *
   * @param jsonLength bytes of its JSON part; {@link RequestHead#ABSENT}: all of it
   */
  void parse(BodyReader buffered, RequestBody body, long jsonLength) throws IOException {
    long length = jsonLength == RequestHead.ABSENT ? body.length() : jsonLength;
    boolean inPlace =
        buffered == body && length != RequestBody.UNKNOWN_LENGTH && buffered.isBuffered(length);
    try (JsonParser parser =
        inPlace
            ? buffered.bufferedJson(json, (int) length)
            : json.createParser(
                ObjectReadContext.empty(),
                body.stream(length == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : length))) {
      readObject(parser);
    } catch (JacksonException e) {
      throw JsonParsing.failure(e, limits);
    }
    if (jsonLength == RequestHead.ABSENT && !binaryInputs.isEmpty()) {
      throw HttpFailure.badRequest(
          "must specify valid 'Infer-Header-Content-Length' in request header and"
              + " 'binary_data_size' when passing inputs in binary data format");
    }
    readBinaryInputs(body);
  }

  private void readBinaryInputs(RequestBody body) throws IOException {
    for (BinaryInput input : binaryInputs) {
      MemorySegment segment = input.tensor().segment();
      if (segment.byteSize() > 0 && !body.readFully(segment)) {
        throw HttpFailure.badRequest(
            "unexpected size for input '"
                + input.name()
                + "', expecting "
                + segment.byteSize()
                + " additional bytes for model '"
                + model.name()
                + "'");
      }
    }
    if (body.read(new byte[1], 0, 1) >= 0) {
      throw HttpFailure.badRequest(
          "unexpected additional input data for model '" + model.name() + "'");
    }
  }

  private void readObject(JsonParser parser) {
    JsonToken first = parser.nextToken();
    if (first != JsonToken.START_OBJECT) {
      throw HttpFailure.badRequest(
          "failed to parse the request JSON buffer: expected an object, got "
              + (first == null ? "nothing" : first.toString()));
    }
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "id" -> {
          id = JsonParsing.string(parser, "id");
          if (!id.isEmpty()) {
            request.id(id);
          }
        }
        case "inputs" -> readInputs(parser);
        case "outputs" -> new OutputsParser(model, request, outputs, slices).read(parser);
        case "parameters" -> readParameters(parser);
        default -> parser.skipChildren();
      }
    }
    if (parser.nextToken() != null) {
      throw HttpFailure.badRequest(
          "failed to parse the request JSON buffer: expected nothing behind the object at "
              + parser.currentTokenLocation().getByteOffset());
    }
    if (!hasInputs) {
      throw JsonParsing.missing("inputs");
    }
  }

  // ---- Inputs ----------------------------------------------------------------------------------

  private void readInputs(JsonParser parser) {
    JsonParsing.expectArray(parser, "inputs");
    hasInputs = true;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      JsonParsing.expectObject(parser, "inputs");
      readInput(parser);
    }
  }

  private void readInput(JsonParser parser) {
    InputDescription input = new InputDescription();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "name" -> input.name = JsonParsing.string(parser, "name");
        case "datatype" -> input.type = dataType(JsonParsing.string(parser, "datatype"));
        case "shape" -> input.shape = shape(parser);
        case "parameters" -> readInputParameters(parser, input);
        case "data" -> {
          if (input.hasData) {
            throw JsonParsing.malformed("data", "it is given twice");
          }
          input.hasData = true;
          if (input.isDescribed() && input.binaryByteSize == InputDescription.NOT_BINARY) {
            readData(parser, input);
          } else {
            input.setAside = copy(parser);
          }
        }
        default -> parser.skipChildren();
      }
    }
    input.checkDescribed();
    input.checkSource();
    if (input.setAside != null) {
      try (JsonParser again = json.createParser(ObjectReadContext.empty(), input.setAside)) {
        again.nextToken();
        readData(again, input);
      }
    } else if (input.region.isGiven()) {
      readRegion(input);
    } else if (!input.hasData) {
      allocateBinary(input);
    }
  }

  private static DataType dataType(String name) {
    try {
      return DataType.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw JsonParsing.malformed(
          "datatype",
          "expected one of " + Arrays.toString(DataType.values()) + ", got '" + name + "'");
    }
  }

  private static long[] shape(JsonParser parser) {
    JsonParsing.expectArray(parser, "shape");
    long[] dims = new long[TensorSpec.MAX_RANK];
    int rank = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (rank == dims.length) {
        throw JsonParsing.malformed(
            "shape", "expected at most " + TensorSpec.MAX_RANK + " dimensions");
      }
      dims[rank++] = JsonParsing.unsigned(parser, "shape");
    }
    return Arrays.copyOf(dims, rank);
  }

  private static void readInputParameters(JsonParser parser, InputDescription input) {
    JsonParsing.expectObject(parser, "parameters");
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "binary_data_size" ->
            input.binaryByteSize = JsonParsing.unsigned(parser, "binary_data_size");
        default -> {
          if (!input.region.take(name, parser)) {
            parser.skipChildren();
          }
        }
      }
    }
  }

  /** Text of the value that the parser is at. */
  private byte[] copy(JsonParser parser) {
    ByteArrayOutputStream copy = new ByteArrayOutputStream();
    try (JsonGenerator generator = json.createGenerator(ObjectWriteContext.empty(), copy)) {
      generator.copyCurrentStructureExact(parser);
    }
    return copy.toByteArray();
  }

  private void readData(JsonParser parser, InputDescription input) {
    if (input.type == DataType.FP16 || input.type == DataType.BF16) {
      throw HttpFailure.badRequest(
          "receiving "
              + input.type
              + " data via JSON is not supported. Please use the binary data format for input "
              + input.name);
    }
    input.checkType(spec(input.name), model.name());
    long count = input.elementCount();
    if (count == 0) {
      parser.skipChildren();
      allocate(input, 0);
      return;
    }
    JsonParsing.expectArray(parser, "data");
    TensorJsonReader reader = new TensorJsonReader(parser, input.name, input.type, count);
    if (input.type == DataType.BYTES) {
      byte[] encoded = reader.readBytes(limits.bodyBytes());
      Tensor tensor = request.allocateBytesInput(input.name, encoded.length, input.shape);
      tensor.segment().copyFrom(MemorySegment.ofArray(encoded));
      return;
    }
    if (input.byteSize() > limits.bodyBytes()) {
      throw TensorJsonReader.tooLarge(input.name, input.byteSize(), limits.bodyBytes());
    }
    reader.read(allocate(input, input.byteSize()).segment());
  }

  private void readRegion(InputDescription input) {
    input.region.checkComplete();
    input.checkType(spec(input.name), model.name());
    input.checkByteSize(input.region.byteSize(), model.name());
    RegionSlice slice = input.region.open(slices);
    slice.read(allocate(input, slice.byteSize()).segment());
  }

  private void allocateBinary(InputDescription input) {
    input.checkType(spec(input.name), model.name());
    long byteSize = input.binaryByteSize;
    input.checkByteSize(byteSize, model.name());
    if (byteSize > limits.bodyBytes()) {
      throw new HttpFailure(
          Status.CONTENT_TOO_LARGE,
          "input '"
              + input.name
              + "' has a byte_size ("
              + byteSize
              + " bytes) that exceeds the maximum allowed value of "
              + limits.bodyBytes()
              + ". Use --http-max-input-size to increase the limit.");
    }
    binaryInputs.add(new BinaryInput(input.name, allocate(input, byteSize)));
  }

  private Tensor allocate(InputDescription input, long byteSize) {
    return input.type.isFixedSize()
        ? request.allocateInput(input.name, input.shape)
        : request.allocateBytesInput(input.name, byteSize, input.shape);
  }

  private TensorSpec spec(String name) {
    for (TensorSpec spec : specs) {
      if (spec.name().equals(name)) {
        return spec;
      }
    }
    return null;
  }

  // ---- Parameters ------------------------------------------------------------------------------

  private void readParameters(JsonParser parser) {
    JsonParsing.expectObject(parser, "parameters");
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.nextToken();
      switch (name) {
        case "binary_data_output" ->
            outputs.binaryByDefault(JsonParsing.bool(parser, "binary_data_output"));
        case "priority" ->
            request.priority(
                (int) Math.min(Integer.MAX_VALUE, JsonParsing.unsigned(parser, "priority")));
        case "timeout" -> {
          long timeoutUs = JsonParsing.unsigned(parser, "timeout");
          if (timeoutUs > 0) { // 0 is how clients say that there is none
            request.timeout(Duration.of(timeoutUs, ChronoUnit.MICROS));
          }
        }
        default -> request.parameter(name, parameter(parser, name));
      }
    }
  }

  private static Object parameter(JsonParser parser, String name) {
    return switch (parser.currentToken()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_NUMBER_INT ->
          parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
              ? parser.getBigIntegerValue()
              : (Object) parser.getLongValue();
      default ->
          throw HttpFailure.badRequest(
              name.startsWith(RESERVED)
                  ? "parameter keys starting with 'triton_' are reserved for Triton usage and"
                      + " should not be specified."
                  : "parameter '"
                      + name
                      + "' has invalid type. It should be either 'int', 'bool', or 'string'.");
    };
  }
}
