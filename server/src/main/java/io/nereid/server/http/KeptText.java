package io.nereid.server.http;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The last text in front of binary elements, with its content: clients often repeat the same text,
 * or change only the id. It belongs to the parser of a connection, whose thread uses it.
 */
final class KeptText {

  /** Texts that are longer are not kept. */
  private static final int MAX_BYTES = 1024;

  private byte[] text = {};
  private int length; // 0: no text is kept
  // the begin of the id in the text, behind the quote; the text's end: no plain id
  private int idFrom;
  private int idTo;
  private String id;

  // Never changed.
  private List<InputDescription> inputs;
  private WantedOutputs outputs;

  /** Forgets the text. */
  void forget() {
    length = 0;
  }

  /**
   * Keeps a text, unless it is long.
   *
   * @param bytes has the text, from {@code from} on
   * @param idAt where its id is in these bytes; negative: it has none
   * @param id the id itself
   * @param inputs all inputs, in the order of their elements
   */
  void keep(
      byte[] bytes,
      int from,
      int count,
      int idAt,
      String id,
      List<InputDescription> inputs,
      WantedOutputs outputs) {
    if (count > MAX_BYTES) {
      return;
    }
    if (text.length < count) {
      text = new byte[count];
    }
    System.arraycopy(bytes, from, text, 0, count);
    length = count;
    int idEnd = idAt < 0 ? -1 : plainEnd(bytes, idAt);
    boolean isPlain = idEnd >= 0 && bytes[idEnd] == '"';
    idFrom = isPlain ? idAt - from : count;
    idTo = isPlain ? idEnd - from : count;
    this.id = id;
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** The id of a text that otherwise equals the kept one; null: it differs. */
  String idIn(byte[] bytes, int from, int count) {
    int idBytes = count - length + idTo - idFrom;
    boolean mayBe = length > 0 && count <= MAX_BYTES && (idFrom < length || count == length);
    int at = from + idFrom;
    return mayBe
            && idBytes >= 0
            && Arrays.equals(text, 0, idFrom, bytes, from, at)
            && Arrays.equals(text, idTo, length, bytes, at + idBytes, from + count)
        ? readId(bytes, at, at + idBytes)
        : null;
  }

  /** Reads an id of plain characters; null for others, which the parser reads. */
  private String readId(byte[] bytes, int from, int to) {
    if (Arrays.equals(text, idFrom, idTo, bytes, from, to)) {
      return id;
    }
    return plainEnd(bytes, from) == to
        ? new String(bytes, from, to - from, StandardCharsets.ISO_8859_1)
        : null;
  }

  /**
   * The end of the plain part, before a quote, an escape, a control character or one beyond ASCII.
   */
  private static int plainEnd(byte[] bytes, int from) {
    int at = from;
    while (bytes[at] >= ' ' && bytes[at] != '"' && bytes[at] != '\\') {
      at++;
    }
    return at;
  }

  /** The inputs of the text. */
  List<InputDescription> inputs() {
    return inputs;
  }

  /** The outputs that the text asks for. */
  WantedOutputs outputs() {
    return outputs;
  }
}
