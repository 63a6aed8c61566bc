package io.nereid;

import io.nereid.internal.Checks;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the components of records of one class, and makes records from values. The class is
 * inspected once, at construction. Any thread may use it.
 */
final class RecordType<T extends Record> {

  private static final MethodType READ = MethodType.methodType(Object.class, Object.class);
  private static final MethodType MAKE = MethodType.methodType(Object.class, Object[].class);

  private final Class<T> type;
  private final RecordComponent[] components;
  private final MethodHandle[] accessors;
  private final MethodHandle constructor;

  RecordType(Class<T> type) {
    this.type = type;
    components = type.getRecordComponents();
    if (components == null) {
      throw new IllegalArgumentException("expected a record class, got " + type.getName());
    }
    accessors = new MethodHandle[components.length];
    Class<?>[] parameters =
        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      for (int i = 0; i < components.length; i++) {
        Method accessor = components[i].getAccessor();
        accessor.setAccessible(true);
        accessors[i] = lookup.unreflect(accessor).asType(READ);
      }
      Constructor<T> canonical = type.getDeclaredConstructor(parameters);
      canonical.setAccessible(true);
      constructor =
          lookup
              .unreflectConstructor(canonical)
              .asSpreader(Object[].class, components.length)
              .asType(MAKE);
    } catch (InaccessibleObjectException e) {
      throw new IllegalArgumentException(
          ("expected package %s to be open to io.nereid.runtime: 'opens %s to "
                  + "io.nereid.runtime' in its module-info.java")
              .formatted(type.getPackageName(), type.getPackageName()),
          e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException("record " + type.getName() + " cannot be read", e);
    }
  }

  String name() {
    return type.getSimpleName();
  }

  List<RecordComponent> components() {
    return List.of(components);
  }

  Object read(T values, int component) {
    Checks.notNull(values, "input");
    try {
      return (Object) accessors[component].invokeExact((Object) values);
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  T make(Object[] values) {
    try {
      return type.cast((Object) constructor.invokeExact(values));
    } catch (Throwable t) {
      throw unchecked(t);
    }
  }

  /** Returns the exception of the record's own code unchanged; accessors throw nothing checked. */
  private RuntimeException unchecked(Throwable t) {
    return switch (t) {
      case RuntimeException e -> e;
      case Error e -> throw e;
      default -> new IllegalStateException("record " + name() + " failed", t);
    };
  }
}
