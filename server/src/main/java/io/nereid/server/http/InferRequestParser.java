package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.TensorSpec;
import io.nereid.server.http.JsonReader.Token;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Fills in one request from the JSON part of a body and what follows it. Elements go from the
 * parser, and binary tensors from the socket, straight into the request's memory.
 */
final class InferRequestParser {

  private final JsonReader json;
  private final HttpLimits limits;
  private final Model model;
  private final List<TensorSpec> specs;
  private final InferRequest request;
  private final RequestSlices slices;
  private final LastInfer last;

  private RequestedOutputs outputs = new RequestedOutputs();

  /** Inputs whose elements follow the JSON part, in their order. */
  private final List<BinaryInput> binaryInputs = new ArrayList<>(2);

  private boolean hasInputs;
  private String id = "";

  /** Whether the text says it all: nothing came from elements in it, or from shared memory. */
  private boolean repeatable = true;

  private record BinaryInput(InputDescription input, Tensor tensor) {}

  InferRequestParser(
      JsonReader json,
      HttpLimits limits,
      Model model,
      InferRequest request,
      RequestSlices slices,
      LastInfer last) {
    this.json = json;
    this.limits = limits;
    this.model = model;
    this.specs = model.spec().inputs();
    this.request = request;
    this.slices = slices;
    this.last = last;
  }

  /** What the request wants, after it was parsed. */
  RequestedOutputs outputs() {
    return outputs;
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
    if (buffered == body && length != RequestBody.UNKNOWN_LENGTH && buffered.isBuffered(length)) {
      readBuffered(buffered, length);
    } else {
      json.reset(body, length == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : length);
      readJson();
    }
    if (jsonLength == RequestHead.ABSENT && !binaryInputs.isEmpty()) {
      throw HttpFailure.badRequest(
          "must specify valid 'Infer-Header-Content-Length' in request header and"
              + " 'binary_data_size' when passing inputs in binary data format");
    }
    readBinaryInputs(body);
  }

  private void readBuffered(BodyReader body, long length) throws IOException {
    if (last.isRepeated(body, length)) {
      name(last.id());
      for (InputDescription input : last.inputs()) {
        allocateBinary(input);
      }
      outputs = last.outputs();
      outputs.select(request);
      return;
    }
    body.bufferedJson(json, (int) length);
    readJson();
    if (repeatable && outputs.isPlain()) {
      List<InputDescription> inputs = binaryInputs.stream().map(BinaryInput::input).toList();
      last.keep(body, length, id, inputs, outputs);
    }
  }

  private void readJson() throws IOException {
    try {
      readObject(json);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void readBinaryInputs(RequestBody body) throws IOException {
    for (BinaryInput binary : binaryInputs) {
      MemorySegment segment = binary.tensor().segment();
      if (segment.byteSize() > 0 && !body.readFully(segment)) {
        throw HttpFailure.badRequest(
            "unexpected size for input '"
                + binary.input().name
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

  private void readObject(JsonReader parser) {
    parser.next();
    parser.expectOutermost();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "id" -> name(parser.string("id"));
        case "inputs" -> readInputs(parser);
        case "outputs" -> new OutputsParser(model, request, outputs, slices).read(parser);
        case "parameters" -> readParameters(parser);
        default -> parser.skip();
      }
    }
    parser.expectEnd();
    if (!hasInputs) {
      throw JsonParsing.missing("inputs");
    }
  }

  private void name(String id) {
    this.id = id;
    if (!id.isEmpty()) {
      request.id(id);
    }
  }

  // ---- Inputs ----------------------------------------------------------------------------------

  private void readInputs(JsonReader parser) {
    parser.expectArray("inputs");
    hasInputs = true;
    while (parser.next() != Token.END_ARRAY) {
      parser.expectObject("inputs");
      readInput(parser);
    }
  }

  private void readInput(JsonReader parser) {
    InputDescription input = new InputDescription();
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "name" -> input.name = parser.string("name");
        case "datatype" -> input.type = dataType(parser.string("datatype"));
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
            input.setAside = parser.copy();
          }
        }
        default -> parser.skip();
      }
    }
    input.checkDescribed();
    input.checkSource();
    if (input.setAside != null) {
      JsonReader again = parser.over(input.setAside);
      again.next();
      readData(again, input);
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

  private static long[] shape(JsonReader parser) {
    parser.expectArray("shape");
    long[] dims = new long[TensorSpec.MAX_RANK];
    int rank = 0;
    while (parser.next() != Token.END_ARRAY) {
      if (rank == dims.length) {
        throw JsonParsing.malformed(
            "shape", "expected at most " + TensorSpec.MAX_RANK + " dimensions");
      }
      dims[rank++] = parser.unsigned("shape");
    }
    return Arrays.copyOf(dims, rank);
  }

  private static void readInputParameters(JsonReader parser, InputDescription input) {
    parser.expectObject("parameters");
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "binary_data_size" -> input.binaryByteSize = parser.unsigned("binary_data_size");
        default -> {
          if (!input.region.take(name, parser)) {
            parser.skip();
          }
        }
      }
    }
  }

  private void readData(JsonReader parser, InputDescription input) {
    repeatable = false;
    InputDescription.checkJsonType(input.name, input.type);
    input.checkType(spec(input.name), model.name());
    long count = input.elementCount();
    if (count == 0) {
      parser.skip();
      allocate(input, 0);
      return;
    }
    parser.expectArray("data");
    TensorJsonReader reader = new TensorJsonReader(parser, input.name, input.type, count);
    if (input.type == DataType.BYTES) {
      BytesBuffer encoded = reader.readBytes(limits.bodyBytes());
      encoded.copyTo(request.allocateBytesInput(input.name, encoded.size(), input.shape).segment());
      return;
    }
    if (input.byteSize() > limits.bodyBytes()) {
      throw TensorJsonReader.tooLarge(input.name, input.byteSize(), limits.bodyBytes());
    }
    reader.read(allocate(input, input.byteSize()).segment());
  }

  private void readRegion(InputDescription input) {
    repeatable = false;
    input.region.checkComplete();
    input.checkType(spec(input.name), model.name());
    input.checkByteSize(input.region.byteSize(), model.name());
    RegionSlice slice = input.region.open(slices);
    if (!slice.lend(request, input.name, input.shape)) {
      slice.read(allocate(input, slice.byteSize()).segment());
    }
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
    binaryInputs.add(new BinaryInput(input, allocate(input, byteSize)));
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

  private void readParameters(JsonReader parser) {
    parser.expectObject("parameters");
    for (String name = parser.nextName(); name != null; name = parser.nextName()) {
      parser.next();
      switch (name) {
        case "binary_data_output" -> outputs.binaryByDefault(parser.bool("binary_data_output"));
        default -> {
          repeatable = false;
          InferParameters.take(name, parser, request);
        }
      }
    }
  }
}
