package io.nereid.internal.config;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.TextFormatParseInfoTree;
import com.google.protobuf.TextFormatParseLocation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the places in a file of the messages of a list in brackets. Protobuf's parser records them
 * together, as if they were one message; the content of each message tells which are its own.
 * Counts of each field are kept, so that looking up all elements of a list takes linear time.
 */
final class WrittenMessages {

  private static final TextFormatParseInfoTree NOWHERE = TextFormatParseInfoTree.builder().build();

  /** The places of messages that are not written. */
  static final WrittenMessages NONE = new WrittenMessages(List.of(), NOWHERE);

  /** One of the messages, by its index among them. */
  record Member(WrittenMessages all, int index) {

    static final Member NONE = new Member(WrittenMessages.NONE, 0);
  }

  /**
   * The number of values and places that all messages together hold of a field.
   *
   * @param placesBefore the places before each message's own; at the end, all
   * @param listsBefore the messages before each one that hold the field
   */
  private record Held(int[] placesBefore, int[] listsBefore) {

    int places() {
      return placesBefore[placesBefore.length - 1];
    }

    int lists() {
      return listsBefore[listsBefore.length - 1];
    }
  }

  private final List<Message> messages;
  private final TextFormatParseInfoTree places;

  @GuardedBy("this")
  private final Map<FieldDescriptor, Held> held = new HashMap<>();

  /** The elements of fields whose places are recorded for all messages together. */
  @GuardedBy("this")
  private final Map<FieldDescriptor, WrittenMessages> shared = new HashMap<>();

  /** The elements of fields whose places are recorded for each message on its own. */
  @GuardedBy("this")
  private final Map<FieldDescriptor, WrittenMessages[]> own = new HashMap<>();

  private WrittenMessages(List<Message> messages, TextFormatParseInfoTree places) {
    this.messages = messages;
    this.places = places;
  }

  static WrittenMessages of(Message message, TextFormatParseInfoTree places) {
    return new WrittenMessages(List.of(message), places);
  }

  /** True if a field of one of the messages is written, even with its default value. */
  synchronized boolean isWritten(int index, FieldDescriptor field, int element) {
    if (messages.isEmpty()) {
      return false;
    }
    Message message = messages.get(index);
    if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
      return element < count(message, field);
    }
    // A written value that equals the default is known by its place only.
    return count(message, field) > 0 || places.getLocations(field).size() == messages.size();
  }

  /** A message that a field of one of the messages holds, which must be written. */
  synchronized Member child(int index, FieldDescriptor field, int element) {
    List<TextFormatParseInfoTree> trees = places.getNestedTrees(field);
    Held counts = held(field);
    int position = counts.placesBefore[index] + element;
    if (trees.size() == counts.places()) {
      Message child = element(messages.get(index), field, element);
      return new Member(of(child, trees.get(position)), 0);
    }
    if (trees.size() == 1) {
      WrittenMessages all =
          shared.computeIfAbsent(
              field, key -> new WrittenMessages(elements(messages, key), trees.getFirst()));
      return new Member(all, position);
    }
    WrittenMessages[] lists =
        own.computeIfAbsent(field, key -> new WrittenMessages[messages.size()]);
    if (lists[index] == null) {
      // Each message has a list in brackets of its own, or the forms are mixed.
      TextFormatParseInfoTree tree =
          trees.size() == counts.lists() ? trees.get(counts.listsBefore[index]) : NOWHERE;
      lists[index] = new WrittenMessages(elements(List.of(messages.get(index)), field), tree);
    }
    return new Member(lists[index], element);
  }

  /**
   * Returns the place of a field's value; for a list that is written in brackets, the list's
   * beginning. The place is empty if it is not known.
   */
  synchronized TextFormatParseLocation location(int index, FieldDescriptor field, int element) {
    List<TextFormatParseLocation> locations = places.getLocations(field);
    if (locations.isEmpty() || !isWritten(index, field, element)) {
      return TextFormatParseLocation.EMPTY;
    }
    boolean message = field.getJavaType() == FieldDescriptor.JavaType.MESSAGE;
    Held counts = held(field);
    if (locations.size() == counts.places()) {
      return locations.get(counts.placesBefore[index] + (message ? element : 0));
    } else if (locations.size() == 1) {
      return locations.getFirst();
    } else if (!message && messages.size() == 1) {
      // The numbers are written one by one, each after the field's name.
      return locations.get(Math.min(element, locations.size() - 1));
    } else if (locations.size() == messages.size()) {
      return locations.get(index);
    }
    return TextFormatParseLocation.EMPTY;
  }

  @GuardedBy("this")
  private Held held(FieldDescriptor field) {
    return held.computeIfAbsent(field, this::hold);
  }

  private Held hold(FieldDescriptor field) {
    int[] placesBefore = new int[messages.size() + 1];
    int[] listsBefore = new int[messages.size() + 1];
    for (int i = 0; i < messages.size(); i++) {
      int count = count(messages.get(i), field);
      placesBefore[i + 1] = placesBefore[i] + count;
      listsBefore[i + 1] = listsBefore[i] + Math.min(count, 1);
    }
    return new Held(placesBefore, listsBefore);
  }

  static Message element(Message message, FieldDescriptor field, int element) {
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

  /** Returns the number of places that are noted for a field of a message. */
  private static int count(Message message, FieldDescriptor field) {
    if (field.isRepeated()) {
      int count = message.getRepeatedFieldCount(field);
      return field.getJavaType() == FieldDescriptor.JavaType.MESSAGE ? count : Math.min(count, 1);
    }
    return message.hasField(field) ? 1 : 0;
  }
}
