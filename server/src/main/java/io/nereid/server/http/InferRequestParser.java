package io.nereid.server.http;

import io.nereid.InferRequest;
import io.nereid.Model;
import io.nereid.model.TensorSpec;
import io.nereid.server.json.JsonException;
import io.nereid.server.json.JsonReader;
import io.nereid.server.json.JsonReader.Token;
import io.nereid.server.memory.RegionSlice;
import io.nereid.server.memory.RequestSlices;
import io.nereid.tensor.Tensor;
import io.nereid.types.DataType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Fills in one request after the other from the JSON part and the binary part of a body. Elements
 * go from the parser, and binary tensors from the socket, straight into the request's memory. Used
 * by the thread that serves the request.
 *
 * <p>The content of the last text is kept if the elements of all its inputs followed in binary (see
 * {@link KeptText}). That saves only the reading: the content is checked against the model each
 * time, which may have changed.
 */
final class InferRequestParser {

  /** The JSON part is all of the body. */
  static final long ALL = -1;

  private final HttpLimits limits;
  private final ArrivingTensors.Arrival arrival;
  private final JsonReader json;

  /** The inputs whose elements follow the JSON part, in order. */
  private final List<BinaryInput> binaryInputs = new ArrayList<>(2);

  private final JsonReader.MemberReader members = this::readMember;
  private final KeptText kept = new KeptText();
  private final byte[] one = new byte[1];

  // The model of the present request.
  private Model model;
  private InferRequest request;
  private RequestSlices slices;
  private WantedOutputs outputs;
  private boolean hasInputs;
  private String id = "";
  private int idAt; // the id's place in the text; -1: no id

  /**
   * True if the text without elements describes the request: none in JSON, none in shared memory.
   */
  private boolean repeatable;

  private record BinaryInput(InputDescription input, Tensor tensor) {}

  /** {@code arrival} is told of tensors still to come; null: the body is complete. */
  InferRequestParser(HttpLimits limits, ArrivingTensors.Arrival arrival) {
    this.limits = limits;
    this.arrival = arrival;
    json = new JsonReader(limits.jsonDepth());
  }

  /** The outputs that the last request wants, after it was parsed. */
  WantedOutputs outputs() {
    return outputs;
  }

  /** The id of the last request; empty: it has none, or none so far. */
  String id() {
    return id;
  }

  /** Forgets the last text. */
  void forget() {
    kept.forget();
  }

  /** Ends the last request: drops its memory and long texts. */
  void release() {
    if (arrival != null) {
      arrival.end();
    }
    binaryInputs.clear();
    model = null;
    request = null;
    slices = null;
    outputs = null;
    id = "";
    json.release();
  }

  /**
   * Reads the whole body of a request.
   *
   * @param jsonLength bytes of the JSON part; {@link #ALL}: the whole body; 0: no JSON part, the
   *     body is the model's only input
   */
  void parse(
      RequestBody body, long jsonLength, Model model, InferRequest request, RequestSlices slices)
      throws IOException {
    begin(model, request, slices);
    if (jsonLength == 0) {
      outputs = new WantedOutputs();
      RawInferRequest raw = new RawInferRequest(model);
      announce(Math.max(0, body.length()));
      raw.read(body, request);
      return;
    }
    long length = jsonLength == ALL ? body.length() : jsonLength;
    if (length >= 0 && length <= RequestBody.MOST_TEXT_BYTES && body.length() >= length) {
      byte[] text = body.takeText((int) length);
      readText(text, body.textAt(), (int) length);
    } else {
      json.reset(body, length == RequestBody.UNKNOWN_LENGTH ? Long.MAX_VALUE : length);
      readJson();
    }
    if (jsonLength == ALL && !binaryInputs.isEmpty()) {
      throw HttpFailure.badRequest(
          "must specify valid 'Infer-Header-Content-Length' in request header and"
              + " 'binary_data_size' when passing inputs in binary data format");
    }
    readBinaryInputs(body);
  }

  private void begin(Model asked, InferRequest filled, RequestSlices used) {
    model = asked;
    request = filled;
    slices = used;
    outputs = null;
    binaryInputs.clear();
    hasInputs = false;
    id = "";
    idAt = -1;
    repeatable = true;
  }

  private void readText(byte[] text, int from, int length) throws IOException {
    String keptId = kept.idIn(text, from, length);
    if (keptId != null) {
      name(keptId);
      for (InputDescription input : kept.inputs()) {
        allocateBinary(input);
      }
      outputs = kept.outputs();
      outputs.select(request);
      return;
    }
    json.reset(text, from, length);
    readJson();
    if (repeatable && outputs.isPlain()) {
      List<InputDescription> inputs = binaryInputs.stream().map(BinaryInput::input).toList();
      kept.keep(text, from, length, idAt, id, inputs, outputs);
    }
  }

  private void readJson() throws IOException {
    outputs = new WantedOutputs();
    json.readObject(members, false);
    if (!hasInputs) {
      throw JsonException.missing("inputs");
    }
  }

  private void readMember(String name, JsonReader value) {
    switch (name) {
      case "id" -> {
        name(value.string("id"));
        repeatable &= idAt < 0; // of several ids, the last one that is not empty counts
        idAt = value.tokenStart() + 1;
      }
      case "inputs" -> readInputs(value);
      case "outputs" -> outputs.read(value, model, request, slices);
      case "parameters" -> readParameters(value);
      default -> value.skip();
    }
  }

  private void readBinaryInputs(RequestBody body) throws IOException {
    for (BinaryInput binary : binaryInputs) {
      MemorySegment segment = binary.tensor().segment();
      if (segment.byteSize() > 0 && !body.readFully(segment)) {
        throw HttpFailure.badRequest(
            "unexpected size for input '%s', expecting %s additional bytes for model '%s'"
                .formatted(binary.input().name, segment.byteSize(), model.name()));
      }
    }
    if (arrival != null) {
      arrival.end();
    }
    if (body.read(one, 0, 1) >= 0) {
      throw HttpFailure.badRequest(
          "unexpected additional input data for model '" + model.name() + "'");
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
        case "name" -> input.name = parser.name("name");
        case "datatype" -> input.type = dataType(parser.name("datatype"));
        case "shape" -> input.shape = shape(parser);
        case "parameters" -> readInputParameters(parser, input);
        case "data" -> {
          if (input.hasData) {
            throw JsonException.malformed("data", "it is given twice");
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
      throw JsonException.malformed(
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
        throw JsonException.malformed(
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
      TensorJsonReader.BytesBuffer encoded = reader.readBytes(limits.bodyBytes());
      encoded.copyTo(request.allocateBytesInput(input.name, encoded.size(), input.shape).segment());
      return;
    }
    if (input.byteSize() > limits.bodyBytes()) {
      throw TensorJsonReader.tooLarge(input.name, input.byteSize(), limits.bodyBytes());
    }
    announce(input.byteSize());
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
          ("input '%s' has a byte_size (%s bytes) that exceeds the maximum allowed value of %s. "
                  + "Use --http-max-input-size to increase the limit.")
              .formatted(input.name, byteSize, limits.bodyBytes()));
    }
    announce(byteSize);
    binaryInputs.add(new BinaryInput(input, allocate(input, byteSize)));
  }

  private void announce(long byteSize) {
    if (arrival != null) {
      arrival.announce(byteSize);
    }
  }

  private Tensor allocate(InputDescription input, long byteSize) {
    return input.type.isFixedSize()
        ? request.allocateInput(input.name, input.shape)
        : request.allocateBytesInput(input.name, byteSize, input.shape);
  }

  private TensorSpec spec(String name) {
    for (TensorSpec spec : model.spec().inputs()) {
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
          RequestParameters.take(name, parser, request);
        }
      }
    }
  }
}
