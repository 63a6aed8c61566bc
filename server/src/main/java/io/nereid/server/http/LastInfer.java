package io.nereid.server.http;

import java.util.List;

/**
 * What the JSON part of an infer request said, the last of a connection whose elements all followed
 * in binary: clients send the same text again and again, with other elements behind it. Only the
 * reading is saved. What was said is held against the model each time, which may be another one.
 */
final class LastInfer {

  /** Texts that are longer are not kept. */
  private static final int MAX_BYTES = 1024;

  private byte[] text = {};
  private int length; // of text; 0: there is none
  private String id;
  private List<InputDescription> inputs;
  private RequestedOutputs outputs;

  /** Whether the text follows once more, of that length and in the buffer; takes it if so. */
  boolean isRepeated(BodyReader body, long count) throws ClientGoneException {
    return count == length && length > 0 && body.takeBuffered(text, length);
  }

  /** Keeps what was just taken from the buffer, and what it says. Nobody changes that any more. */
  void keep(
      BodyReader body,
      long count,
      String id,
      List<InputDescription> inputs,
      RequestedOutputs outputs) {
    if (count > MAX_BYTES) {
      return;
    }
    if (text.length < count) {
      text = new byte[(int) count];
    }
    length = (int) count;
    body.copyTaken(text, length);
    this.id = id;
    this.inputs = inputs;
    this.outputs = outputs;
  }

  String id() {
    return id;
  }

  /** All inputs, in the order of their elements. */
  List<InputDescription> inputs() {
    return inputs;
  }

  RequestedOutputs outputs() {
    return outputs;
  }
}
