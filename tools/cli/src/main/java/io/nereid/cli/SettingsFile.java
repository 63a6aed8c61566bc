package io.nereid.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.events.StreamEndEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads a file of settings: a YAML map from names to values or lists of values. It is read as a
 * stream of events, which stops at the first unneeded construct (nested maps, aliases, a second
 * document), so memory is bounded by the file's size.
 */
final class SettingsFile {

  /**
   * The most bytes: settings take a page or two, but a wrong path may lead to a file of any size.
   */
  private static final int MOST_BYTES = 1 << 20;

  /**
   * One name in the file with its values.
   *
   * @param name the name as written
   * @param isList whether the values were written as a list
   * @param place the file and the line
   */
  record Entry(String name, List<Value> values, boolean isList, String place) {}

  /** One value as text, with its place. */
  record Value(String text, String place) {}

  private final Path file;
  private final Iterator<Event> events;

  private SettingsFile(Path file, Iterator<Event> events) {
    this.file = file;
    this.events = events;
  }

  /** The entries of a file, in its order. */
  static List<Entry> read(Path file) {
    String text = text(file);
    LoadSettings settings = LoadSettings.builder().setLabel(file.toString()).build();
    try {
      return new SettingsFile(file, new Parse(settings).parseString(text).iterator()).entries();
    } catch (MarkedYamlEngineException e) {
      String place = e.getProblemMark().map(mark -> place(file, mark)).orElse(file.toString());
      throw new SettingsException(place + ": not YAML: " + e.getProblem());
    } catch (YamlEngineException e) {
      throw new SettingsException(file + ": not YAML: " + e.getMessage());
    }
  }

  private static String text(Path file) {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST_BYTES + 1);
    } catch (IOException e) {
      throw new SettingsException("cannot read --config " + file + ": " + reason(file));
    }
    if (bytes.length > MOST_BYTES) {
      throw new SettingsException(
          file + ": expected a file of settings of at most " + MOST_BYTES + " bytes, got more");
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      throw new SettingsException(file + ": expected UTF-8 text");
    }
  }

  /** The reason why a file cannot be read, since the exceptions' messages are only the path. */
  private static String reason(Path file) {
    if (!Files.exists(file)) {
      return "no such file";
    }
    return Files.isDirectory(file) ? "it is a directory" : "permission denied";
  }

  private List<Entry> entries() {
    events.next(); // the start of the stream
    Event event = events.next();
    if (event instanceof StreamEndEvent) {
      return List.of();
    }
    List<Entry> entries = new ArrayList<>();
    event = events.next(); // after the start of the document
    if (event instanceof MappingStartEvent) {
      event = events.next();
      while (!(event instanceof MappingEndEvent)) {
        entries.add(entry(scalar(event, "a name")));
        event = events.next();
      }
    } else if (!(event instanceof ScalarEvent scalar && isNull(scalar))) {
      throw wrong(event, "lines of the form 'name: value'");
    }
    events.next(); // the end of the document
    event = events.next();
    if (event instanceof DocumentStartEvent) {
      throw new SettingsException(place(event) + ": expected one document, got a second one");
    }
    return entries;
  }

  private Entry entry(ScalarEvent name) {
    String place = place(name);
    Event event = events.next();
    if (!(event instanceof SequenceStartEvent)) {
      List<Value> one = List.of(value(name, event, "a value or a list of values"));
      return new Entry(name.getValue(), one, false, place);
    }
    List<Value> values = new ArrayList<>();
    event = events.next();
    while (!(event instanceof SequenceEndEvent)) {
      values.add(value(name, event, "a value"));
      event = events.next();
    }
    return new Entry(name.getValue(), values, true, place);
  }

  private Value value(ScalarEvent name, Event event, String expected) {
    ScalarEvent scalar = scalar(event, expected + " for '" + name.getValue() + "'");
    if (isNull(scalar)) {
      throw new SettingsException(
          place(scalar) + ": expected " + expected + " for '" + name.getValue() + "', got nothing");
    }
    return new Value(scalar.getValue(), place(scalar));
  }

  private ScalarEvent scalar(Event event, String expected) {
    if (event instanceof ScalarEvent scalar) {
      return scalar;
    }
    throw wrong(event, expected);
  }

  private static boolean isNull(ScalarEvent scalar) {
    return scalar.getScalarStyle() == ScalarStyle.PLAIN
        && switch (scalar.getValue()) {
          case "", "~", "null" -> true;
          default -> false;
        };
  }

  private SettingsException wrong(Event event, String expected) {
    String got =
        switch (event) {
          case MappingStartEvent map -> "a map";
          case SequenceStartEvent list -> "a list";
          case AliasEvent alias -> "the alias *" + alias.getAlias();
          case ScalarEvent scalar -> "'" + scalar.getValue() + "'";
          default -> event.getEventId().toString();
        };
    return new SettingsException(place(event) + ": expected " + expected + ", got " + got);
  }

  private String place(Event event) {
    return event.getStartMark().map(mark -> place(file, mark)).orElse(file.toString());
  }

  private static String place(Path file, Mark mark) {
    return file + ":" + (mark.getLine() + 1);
  }

  /** Settings cannot be used; the message has the reason and the place. */
  static final class SettingsException extends RuntimeException {
    private static final long serialVersionUID = 1;

    SettingsException(String message) {
      super(message);
    }
  }
}
