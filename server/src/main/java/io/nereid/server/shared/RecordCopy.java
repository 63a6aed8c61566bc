package io.nereid.server.shared;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;

/**
 * Copies records of options that differ in one component, so that no option is named once more to
 * be copied. It reads the record by reflection, which is cheap enough while a server is set up and
 * too slow for requests.
 */
public final class RecordCopy {

  private RecordCopy() {}

  /**
   * The same record with another value of one component. The record's constructor checks it.
   *
   * @param component the component's name
   */
  public static <R extends Record> R with(R record, String component, Object value) {
    RecordComponent[] components = record.getClass().getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    Object[] values = new Object[components.length];
    boolean found = false;
    try {
      for (int i = 0; i < components.length; i++) {
        boolean replaced = components[i].getName().equals(component);
        types[i] = components[i].getType();
        values[i] = replaced ? value : components[i].getAccessor().invoke(record);
        found |= replaced;
      }
      if (!found) {
        throw new IllegalArgumentException(
            "expected a component of " + record.getClass().getName() + ", got " + component);
      }
      @SuppressWarnings("unchecked") // a record's class makes nothing else
      R copy = (R) record.getClass().getDeclaredConstructor(types).newInstance(values);
      return copy;
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException refused) {
        throw refused;
      }
      throw new AssertionError("a record's constructor throws nothing else", e);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError("records of options are public", e);
    }
  }
}
