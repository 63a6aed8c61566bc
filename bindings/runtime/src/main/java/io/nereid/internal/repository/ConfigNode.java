package io.nereid.internal.repository;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormatParseInfoTree;
import com.google.protobuf.TextFormatParseLocation;
import io.nereid.NereidException;
import io.nereid.StatusCode;
import java.util.ArrayList;
import java.util.List;

/**
 * A message of a configuration, with where it is written. The message may hold more than what is
 * written: what the model told, and defaults.
 *
 * <p>The parser notes the places in messages of a list in brackets together, as if they were one:
 * which is whose follows from what each of them holds.
 *
 * @param message the message
 * @param written the messages, as they are written, whose places are noted together; none for a
 *     message that is not written
 * @param index which of them this one is
 * @param places where their fields are
 * @param source what the places are in
 * @param place where the message itself is, such as {@code m/config.pbtxt:3:1}
 */
record ConfigNode(
    Message message,
    List<Message> written,
    int index,
    TextFormatParseInfoTree places,
    ConfigSource source,
    String place) {

  private static final TextFormatParseInfoTree NOWHERE = TextFormatParseInfoTree.builder().build();

  static ConfigNode root(Message message, TextFormatParseInfoTree places, ConfigSource source) {
    return new ConfigNode(message, List.of(message), 0, places, source, source.shown());
  }

  /** A message of which nothing is written. */
  static ConfigNode root(Message message, ConfigSource source) {
    return new ConfigNode(message, List.of(), 0, NOWHERE, source, source.shown());
  }

  /** The same places for a message that holds more. */
  ConfigNode withMessage(Message completed) {
    return new ConfigNode(completed, written, index, places, source, place);
  }

  <M extends Message> M as(Class<M> type) {
    return type.cast(message);
  }

  /** The messages of a repeated field. */
  List<ConfigNode> children(int number) {
    FieldDescriptor field = field(number);
    List<ConfigNode> children = new ArrayList<>();
    for (int i = 0; i < message.getRepeatedFieldCount(field); i++) {
      children.add(child(field, i));
    }
    return children;
  }

  /** The message of a field. */
  ConfigNode child(int number) {
    return child(field(number), 0);
  }

  ConfigNode child(FieldDescriptor field, int element) {
    Message value = element(message, field, element);
    if (!isWritten(field, element)) {
      return new ConfigNode(value, List.of(), 0, NOWHERE, source, place);
    }
    List<TextFormatParseInfoTree> trees = places.getNestedTrees(field);
    String found = place(field, element);
    int position = before(field) + element;
    if (trees.size() == total(field)) {
      List<Message> own = List.of(element(written.get(index), field, element));
      return new ConfigNode(value, own, 0, trees.get(position), source, found);
    }
    List<Message> together = trees.size() == 1 ? elements(written, field) : own(field);
    int first = trees.size() == 1 ? position : element;
    TextFormatParseInfoTree tree = trees.size() == 1 ? trees.getFirst() : treeOfList(field, trees);
    return new ConfigNode(value, together, first, tree, source, found);
  }

  private List<Message> own(FieldDescriptor field) {
    return elements(List.of(written.get(index)), field);
  }

  /** Where each of the messages has a list in brackets of its own; nowhere for other mixtures. */
  private TextFormatParseInfoTree treeOfList(
      FieldDescriptor field, List<TextFormatParseInfoTree> trees) {
    int lists = (int) written.stream().filter(one -> count(one, field) > 0).count();
    int earlier =
        (int) written.subList(0, index).stream().filter(one -> count(one, field) > 0).count();
    return trees.size() == lists ? trees.get(earlier) : NOWHERE;
  }

  private static Message element(Message message, FieldDescriptor field, int element) {
    return (Message)
        (field.isRepeated() ? message.getRepeatedField(field, element) : message.getField(field));
  }

  private static List<Message> elements(List<Message> messages, FieldDescriptor field) {
    List<Message> elements = new ArrayList<>();
    for (Message one : messages) {
      for (int i = 0; i < count(one, field); i++) {
        elements.add(element(one, field, i));
      }
    }
    return elements;
  }

  /** How many places a field of a message is noted at. */
  private static int count(Message message, FieldDescriptor field) {
    if (field.isRepeated()) {
      int count = message.getRepeatedFieldCount(field);
      return field.getJavaType() == FieldDescriptor.JavaType.MESSAGE ? count : Math.min(count, 1);
    }
    return message.getAllFields().containsKey(field) ? 1 : 0;
  }

  private int total(FieldDescriptor field) {
    return written.stream().mapToInt(one -> count(one, field)).sum();
  }

  /** Places of those messages that are noted before this one. */
  private int before(FieldDescriptor field) {
    return written.subList(0, index).stream().mapToInt(one -> count(one, field)).sum();
  }

  private FieldDescriptor field(int number) {
    return message.getDescriptorForType().findFieldByNumber(number);
  }

  /** Whether a field is written, also when that is its default. */
  boolean isWritten(int number) {
    return isWritten(field(number), 0);
  }

  boolean isWritten(FieldDescriptor field, int element) {
    if (written.isEmpty()) {
      return false;
    }
    Message own = written.get(index);
    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
      return element < (field.isRepeated() ? own.getRepeatedFieldCount(field) : count(own, field));
    }
    // A value that is written although it is the default shows in its place only.
    return own.getAllFields().containsKey(field)
        || places.getLocations(field).size() == written.size();
  }

  /** Where a value of a field is; of a list that is written in brackets, the list's beginning. */
  String place(FieldDescriptor field, int element) {
    List<TextFormatParseLocation> locations = places.getLocations(field);
    if (locations.isEmpty() || !isWritten(field, element)) {
      return place;
    }
    boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
    int position;
    if (locations.size() == total(field)) {
      position = before(field) + (message ? element : 0);
    } else if (locations.size() == 1) {
      position = 0;
    } else if (!message && written.size() == 1) {
      position = Math.min(element, locations.size() - 1); // each number after the field's name
    } else if (locations.size() == written.size()) {
      position = index;
    } else {
      return place;
    }
    TextFormatParseLocation found = locations.get(position);
    return found.equals(TextFormatParseLocation.EMPTY) ? place : source.place(found);
  }

  /** For a value that cannot be used. */
  NereidException invalid(int number, int index, String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place(field(number), index), text);
  }

  /** For a value that cannot be used. */
  NereidException invalid(int number, String text) {
    return invalid(number, 0, text);
  }

  /** For what is wrong with the message as a whole. */
  NereidException invalid(String text) {
    return failure(StatusCode.INVALID_ARGUMENT, place, text);
  }

  static NereidException failure(StatusCode code, String place, String text) {
    return new NereidException(code, place + ": " + ModelFiles.printable(text));
  }
}
