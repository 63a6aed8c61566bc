package io.nereid.internal.model;

import io.nereid.model.Batcher;
import io.nereid.model.ModelSpec;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A {@link ModelSpec} as text for the JVM of a child, which has the same classes: Java's
 * serialization, with records, optional values and paths taken apart. It leaves out batchers, which
 * stay in the process of the queues. The child trusts its parent, which reads nothing of the kind
 * from the child.
 */
final class SpecText {

  /** The parameter that contains the text. */
  static final String PARAMETER = "isolation.spec";

  private SpecText() {}

  /** Stands in the stream for a record. */
  @SuppressWarnings("serial") // the values were replaced by serializable ones
  private record Parts(Class<?> type, Object[] values) implements Serializable {}

  /** Stands for an optional value; null: there is none. */
  @SuppressWarnings("serial")
  private record Maybe(Object value) implements Serializable {}

  /** Stands for a path. */
  private record Place(String path) implements Serializable {}

  static String write(ModelSpec spec) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (Writer writer = new Writer(bytes)) {
      writer.writeObject(spec);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }

  static ModelSpec read(String text) {
    byte[] bytes = Base64.getDecoder().decode(text);
    try (Reader reader = new Reader(new ByteArrayInputStream(bytes))) {
      return (ModelSpec) reader.readObject();
    } catch (IOException | ClassNotFoundException e) {
      throw new IllegalStateException("the parent sent a model that this JVM cannot read", e);
    }
  }

  private static final class Writer extends ObjectOutputStream {
    Writer(OutputStream out) throws IOException {
      super(out);
      enableReplaceObject(true);
    }

    @Override
    protected Object replaceObject(Object value) throws IOException {
      return switch (value) {
        case Serializable plain -> plain;
        case Path path -> new Place(path.toString());
        case Optional<?> optional ->
            new Maybe(optional.filter(it -> !(it instanceof Batcher)).orElse(null));
        case Record record -> parts(record);
        default -> value; // writing it fails, with its class in the message
      };
    }

    private static Parts parts(Record record) throws IOException {
      RecordComponent[] components = record.getClass().getRecordComponents();
      Object[] values = new Object[components.length];
      try {
        for (int i = 0; i < components.length; i++) {
          values[i] = components[i].getAccessor().invoke(record);
        }
      } catch (ReflectiveOperationException e) {
        throw new InvalidObjectException(record.getClass().getName(), e);
      }
      return new Parts(record.getClass(), values);
    }
  }

  private static final class Reader extends ObjectInputStream {
    Reader(InputStream in) throws IOException {
      super(in);
      enableResolveObject(true);
    }

    @Override
    protected Object resolveObject(Object value) throws IOException {
      return switch (value) {
        case Place place -> Path.of(place.path());
        case Maybe maybe -> Optional.ofNullable(maybe.value());
        case Parts parts -> record(parts);
        default -> value;
      };
    }

    private static Object record(Parts parts) throws IOException {
      Class<?>[] types =
          Stream.of(parts.type().getRecordComponents())
              .map(RecordComponent::getType)
              .toArray(Class<?>[]::new);
      try {
        return parts.type().getDeclaredConstructor(types).newInstance(parts.values());
      } catch (ReflectiveOperationException e) {
        throw new InvalidObjectException(parts.type().getName(), e);
      }
    }
  }
}
